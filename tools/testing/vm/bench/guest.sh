#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# guest.sh FIGURE...
#
# Runs in the VM, for bench.sh: prints "topology WORD", and for each figure one of
#   result FIGURE VALUE UNIT
#   result FIGURE failed REASON...
#   result FIGURE skipped REASON...	this driver or this system cannot have it
#
# A figure is [MTU/][netkit_|bridge_]TEST: see the functions wire_* and test_*. It
# is between two namespaces on a veth pair unless it names another wire.
#
# TOPOLOGY=self: of a driver that knows no namespaces one link talks to itself.
# TOOLS: the directory with what bench.sh has compiled.

set -uo pipefail

tmp=$(mktemp -d)
port=18600
pids=()

# shellcheck disable=SC2317 # by the trap
finish() {
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap finish EXIT

say() { echo "$*" >&2; }

# in_ns 1|2 COMMAND...
in_ns() {
	local ns=$1
	shift
	if [ "$topology" = netns ]; then
		ip netns exec "bench$ns" "$@"
	else
		"$@"
	fi
}

# gid LINK ADDRESS: index of the RoCE v2 GID
gid() {
	local i want dir=/sys/class/infiniband/$1/ports/1 parts
	IFS=. read -r -a parts <<<"$2"
	printf -v want '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' "${parts[@]}"
	for ((tries = 0; tries < 100; tries++)); do
		for ((i = 0; i < 16; i++)); do
			[ "$(cat "$dir/gids/$i" 2>/dev/null)" = "$want" ] || continue
			grep -qs v2 "$dir/gid_attrs/types/$i" || continue
			echo "$i"
			return
		done
		sleep 0.05
	done
	say "$1 has no GID $want"
	return 1
}

# A wire makes netdevs dev1 and dev2 in the namespaces bench1 and bench2.
wire_veth() {
	ip link add "$dev1" netns bench1 type veth peer name "$dev2" netns bench2
}

# Both ends in one namespace first: an "ip" that does not know the type cannot
# say anything about the other end, nor the mode. In the other one, l3, the
# distribution's driver of 7.3 gets nothing through.
wire_netkit() {
	local peer
	ip -n bench1 link add "$dev1" type netkit mode l2 2>/dev/null ||
	ip -n bench1 link add "$dev1" type netkit 2>"$tmp/netkit" || {
		cat "$tmp/netkit" >&2
		! grep -qiE 'not supported|unknown device type' "$tmp/netkit" ||
			skipped="this kernel has no netkit"
		return 1
	}
	peer=$(ip -n bench1 -o link show | sed -n "s/^[0-9]*: \([^@:]*\)@$dev1: .*/\1/p")
	ip -n bench1 link set "$peer" netns bench2 name "$dev2"
}

# each namespace has a veth pair, whose other end is a port of a bridge
wire_bridge() {
	ip netns add bench0 &&
	ip -n bench0 link add br0 type bridge &&
	ip -n bench0 link set br0 up || return
	for i in 1 2; do
		ip link add "bridge$i" netns "bench$i" type veth peer name "port$i" netns bench0 &&
		ip -n bench0 link set "port$i" master br0 up || return
	done
}

# Of a driver that knows no namespaces: the two QPs of one link talk to each other.
wire_self() {
	ip link add "$dev1" type veth peer name "$dev2"
}

# up WIRE: the netdevs, an address and a link at each end
up() {
	local dev ends='1 2'
	dev1=${1}1 dev2=${1}2 link1=rx$dev1 link2=rx$dev2 ip1=10.7.0.1 ip2=10.7.0.2
	if [ "$1" = self ]; then
		link2=$link1 ip2=$ip1 ends=1
	else
		for i in 1 2; do
			ip netns add "bench$i" || return
			in_ns "$i" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
			in_ns "$i" ip link set lo up
		done
	fi
	"wire_$1" || return
	for i in 1 2; do
		dev=dev$i
		in_ns "$i" ip link set "${!dev}" up || return
	done
	for i in $ends; do
		dev=dev$i
		in_ns "$i" ip addr add "10.7.0.$i/24" dev "${!dev}" &&
		in_ns "$i" rdma link add "rx${!dev}" type rxe netdev "${!dev}" || return
	done
}

# what up() has made, perhaps in part
down() {
	for i in 1 2; do
		in_ns "$i" rdma link del "rx$1$i"
		in_ns "$i" ip link del "$1$i"
		ip netns del "bench$i"
	done 2>/dev/null
	ip netns del bench0 2>/dev/null
}

set_mtu() {
	in_ns 1 ip link set "$dev1" mtu "$1" && in_ns 2 ip link set "$dev2" mtu "$1" || return
	for i in 1 2; do
		[ ! -e /run/netns/bench0 ] || ip -n bench0 link set "port$i" mtu "$1" || return
	done
	sleep 0.2
	gid1=$(gid "$link1" "$ip1") && gid2=$(gid "$link2" "$ip2") || return
	in_ns 2 ping -c 1 -W 1 "$ip1" >/dev/null || { say "no ping at MTU $1"; return 1; }
}

loss() {
	for i in 1 2; do
		local dev=dev$i
		if [ "$1" = 0 ]; then
			in_ns "$i" tc qdisc del dev "${!dev}" root 2>/dev/null
		else
			in_ns "$i" tc qdisc add dev "${!dev}" root netem loss "$1"
		fi
	done
}

# server COMMAND...: in the background, ready when it listens on $port
server() {
	in_ns 1 timeout 300 "$@" >"$tmp/server" 2>&1 &
	pids+=($!)
	for ((tries = 0; tries < 200; tries++)); do
		! in_ns 1 ss -Hltn "sport = :$port" | grep -q . || return 0
		sleep 0.02
	done
	cat "$tmp/server" >&2
	say "no server: $*"
	return 1
}

# client COMMAND...: its output in a file
client() {
	local status
	in_ns 2 timeout 300 "$@" >"$tmp/client" 2>"$tmp/client.err" && return
	status=$?
	tail -qn 5 "$tmp/server" "$tmp/client" "$tmp/client.err" >&2
	if [ "$status" -eq 124 ]; then
		say "time-out: $*"
	else
		say "$1: $(grep -h '[a-z]' "$tmp/client" "$tmp/client.err" | tail -n 1), status $status"
	fi
	return 1
}

# perftest PROGRAM COLUMN OPTION...: a figure of its table
perftest() {
	local program=$1 column=$2
	shift 2
	port=$((port + 1))
	server "$program" -d "$link1" -x "$gid1" -p "$port" -F "$@" || return
	client "$program" -d "$link2" -x "$gid2" -p "$port" -F "$@" "$ip1" || return
	wait "${pids[-1]}"
	awk -v c="$column" '/^ *#bytes/ { getline; print $c }' "$tmp/client"
}

bw() { value=$(perftest "$1" 4 "${@:2}") && unit=MiB/s; }		# average
rate() { value=$(perftest "$1" 5 "${@:2}") && unit=Mmsg/s; }

# qperf TEST OPTION...: bytes and seconds are plain numbers with -uu
#
# It gives up when the peer says nothing for five seconds. In the counted VM these
# pass at once when all wait for the host, such as for the libraries that a program
# loads from there, and on a busy host that is often enough: -to.
qperf_() {
	local qport=$((port += 1)) status=0
	server qperf -lp "$qport" || return
	# its client may come before its server listens for the CM, mostly so on 6.1
	for _ in {1..12}; do
		status=0
		client qperf -lp "$qport" -uu "$ip1" -to 300 -t "${qperf_time:-1}" "${@:2}" "$1" || status=$?
		grep -qs "RDMA CM: Event rejected" "$tmp"/client{,.err} || break
	done
	kill "${pids[-1]}"
	wait "${pids[-1]}"
	[ "$status" -eq 0 ] || return
	# "    bw  =  1.24 GB/sec"; -uu has plain bytes/sec, and nanoseconds or seconds
	value=$(awk '/ (bw|latency) +=/ { gsub(",", "", $3); print $3, $4; exit }' "$tmp/client")
	[ -n "$value" ] || say "$1: $(grep '[a-z]' "$tmp/client" | tail -n 1)"
	unit=${value#* } value=${value% *}
	case $unit in
	bytes/sec) value=$(awk "BEGIN { print $value / 1048576 }") unit=MiB/s ;;
	bits/sec) value=$(awk "BEGIN { print $value / 8 / 1048576 }") unit=MiB/s ;;
	ns) value=$(awk "BEGIN { print $value / 1000 }") unit=us ;;
	sec) value=$(awk "BEGIN { print $value * 1000000 }") unit=us ;;
	esac
}

iperf() {
	port=$((port + 1))
	server iperf3 -s -1 -p "$port" || return
	# by time: with -n, iperf3 notices the end a second late; the first second is left out
	client iperf3 -c "$ip1" -p "$port" -O 1 -t "$1" -J || return
	wait "${pids[-1]}"
	value=$(jq '.end.sum_received.bits_per_second / 8 / 1048576' "$tmp/client") unit=MiB/s
}

# mr BYTES: ibv_reg_mr() and ibv_dereg_mr()
mr() { value=$(in_ns 1 "${TOOLS:?}/reg_mr" "$link1" "$1") && unit=ns; }

# icrc_packet BYTES: the driver's ICRC of a packet with so much behind the BTH
icrc_packet() {
	[ -z "${INTREE-}" ] || {
		skipped="only this driver's ICRC can be called alone"
		return 1
	}
	insmod "${TOOLS:?}/icrc/rxe_bench_icrc.ko" payload="$1" || return
	value=$(cat /sys/module/rxe_bench_icrc/parameters/ns) unit=ns
	rmmod rxe_bench_icrc
}

# what the counters of both links have come to, on stderr
rdma_statistic() {
	for i in 1 2; do
		in_ns "$i" rdma -p statistic show link | grep -v ' 0 *$' >&2
	done
}

# times N: iterations; a profile is the difference of two runs
times() { echo $(($1 * scale)) | tee "$tmp/iterations"; }

# recvs: receive WQEs that the first link's QPs have completed
recvs() { cat "/sys/class/infiniband/$link1/ports/1/hw_counters/rdma_recvs"; }

# by_time TEST: for a profile of what qperf measures by time, its messages are counted
by_time() {
	local before
	before=$(recvs)
	qperf_time=$((scale / 4 + 1)) "$1" || return
	echo $(($(recvs) - before)) >"$tmp/iterations"
}

# Tests
test_send_64k() { bw ib_send_bw -e -s 65536 -n "$(times 4000)"; }
test_read_64k() { bw ib_read_bw -e -s 65536 -n "$(times 4000)"; }
test_write_64k() { qperf_ rc_rdma_write_bw -cm 1 -m 65536; }
test_writep_64k() { by_time test_write_64k; }
test_send_4k() { bw ib_send_bw -e -s 4096 -n "$(times 10000)"; }
test_read_4k() { bw ib_read_bw -e -s 4096 -n "$(times 10000)"; }
test_send_1m() { bw ib_send_bw -e -s 1048576 -n "$(times 300)"; }
test_read_1m() { bw ib_read_bw -e -s 1048576 -n "$(times 300)"; }
test_send_64b() { rate ib_send_bw -e -s 64 -n "$(times 10000)"; }
test_send_64b_list() { rate ib_send_bw -e -s 64 -n "$(times 20000)" -l 32 -r 1024; }
test_write_64b() { rate ib_write_bw -s 64 -n "$(times 10000)"; }
test_write_64b_list() { rate ib_write_bw -s 64 -n "$(times 20000)" -l 32; }
test_send_lat() { qperf_ rc_lat -cm 1 -m 8; }
test_write_lat() { qperf_ rc_rdma_write_lat -cm 1 -m 8; }
test_read_lat() { qperf_ rc_rdma_read_lat -cm 1 -m 8; }
# the latency of qperf's tests, by number, for a profile
test_sendp_lat() { bw ib_send_lat -e -s 8 -n "$(times 2000)"; }
test_readp_lat() { bw ib_read_lat -e -s 8 -n "$(times 2000)"; }
# qps PROGRAM NUMBER: 64 KiB messages by several QPs, 2000 in all
qps() { bw "$1" -e -s 65536 -q "$2" -n "$(times $((2000 / $2)))"; }
test_send_1qp() { qps ib_send_bw 1; }
test_send_2qp() { qps ib_send_bw 2; }
test_send_4qp() { qps ib_send_bw 4; }
test_send_16qp() { qps ib_send_bw 16; }
test_read_1qp() { qps ib_read_bw 1; }
test_read_2qp() { qps ib_read_bw 2; }
test_read_4qp() { qps ib_read_bw 4; }
test_read_16qp() { qps ib_read_bw 16; }
test_uc_64k() { bw ib_send_bw -c UC -e -s 65536 -n "$(times 2000)"; }
test_ud_1k() { bw ib_send_bw -c UD -e -s 1024 -n "$(times 5000)"; }
test_tcp_lat() { qperf_ tcp_lat -m 8; }
test_tcp_bw() { qperf_ tcp_bw; }
test_tcp() { iperf 1; }
test_tcp_loss() { loss 1%; iperf 1; loss 0; }
test_send_loss() { loss 1%; bw ib_send_bw -e -s 65536 -n "$(times 500)" -u 8; loss 0; }
test_read_loss() { loss 1%; bw ib_read_bw -e -s 65536 -n "$(times 500)" -u 8; loss 0; }
# the same with real ICRCs, which the distribution's driver always has
icrc_token() {
	local file=/sys/module/rdma_rxe/parameters/icrc_token
	[ ! -e "$file" ] || echo "$1" >"$file"
}
test_send_icrc() { icrc_token N && test_send_64k; icrc_token Y; }
test_read_icrc() { icrc_token N && test_read_64k; icrc_token Y; }
test_icrc_ack() { icrc_packet 4; }
test_icrc_256() { icrc_packet 256; }
test_icrc_1k() { icrc_packet 1024; }
test_icrc_4k() { icrc_packet 4096; }
# what each further KiB takes
test_icrc_kib() {
	local first
	icrc_packet 1024 && first=$value && icrc_packet 4096 || return
	value=$(awk "BEGIN { print ($value - $first) / 3 }")
}
test_mr_4k() { mr 4096; }
test_mr_64k() { mr 65536; }
test_mr_1m() { mr 1048576; }
test_mr_16m() { mr 16777216; }
test_mr_128m() { mr 134217728; }

# reach WIRE MTU: wire and MTU are these
reach() {
	if [ "$topology" = self ]; then
		[ "$1" = veth ] || {
			skipped="this driver knows the first namespace alone"
			return 1
		}
		set -- self "$2"
	fi
	if [ "$1" != "$wire" ]; then
		[ -z "$wire" ] || down "$wire"
		wire='' mtu=''
		up "$1" || { down "$1"; return 1; }
		wire=$1
	fi
	[ "$2" != "$mtu" ] || return 0
	mtu=''
	set_mtu "$2" && mtu=$2
}

# figure [MTU/][WIRE_]TEST: sets value, unit; or skipped, or reason
figure() {
	local name=${1#*/} want=veth
	value='' unit='' skipped='' reason=''
	case $name in netkit_*|bridge_*) want=${name%%_*} name=${name#*_} ;; esac
	if [[ $1 != */* && ! $name =~ ^(mr|icrc)_ ]] || ! declare -F "test_$name" >/dev/null; then
		reason="no such figure"
		return
	fi
	case $1 in
	*/*) reach "$want" "${1%/*}" ;;
	*) reach "$want" "${mtu:-4500}" ;;
	esac >"$tmp/said" 2>&1 && "test_$name" >>"$tmp/said" 2>&1
	! [[ $value =~ ^[0-9]*\.?[0-9]+$ && $value =~ [1-9] ]] || return
	[ -z "$skipped" ] || return
	# a server may still wait for its client
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	pids=()
	cat "$tmp/said" >&2
	reason=$(grep -v '^[-[:space:]]*$' "$tmp/said" | tail -n 1 | tr -s '[:space:]' ' ')
	reason=${reason:-no figure in the output}
	reason=${reason% }
}

print() {
	if [ -n "$skipped" ]; then
		echo "result $1 skipped $skipped"
	elif [ -n "$reason" ]; then
		echo "result $1 failed ${reason:0:120}"
	else
		echo "result $1 $value $unit"
	fi
}

topology=${TOPOLOGY:-netns}
modprobe -a rdma_rxe ib_uverbs rdma_ucm >&2
echo "topology $topology"
wire='' mtu='' scale=${SCALE:-1}
for name; do
	if [ -z "${PROFILE-}" ]; then
		figure "$name"
		print "$name"
		[ -z "${STATISTIC-}" ] || rdma_statistic
		continue
	fi
	# the first time is for what happens once
	figure "$name"
	for scale in 8 16; do
		python3 "${PROFILE}" start
		figure "$name"
		python3 "${PROFILE}" stop
		echo "$name $(cat "$tmp/iterations") iterations"
	done
	scale=1
	print "$name"
done
[ -z "${PROFILE-}" ] || awk '$2 ~ /[tTwW]/ { print "sym", $1, $3 }' /proc/kallsyms
