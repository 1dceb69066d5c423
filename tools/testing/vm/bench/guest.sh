#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# guest.sh FIGURE...
#
# Runs in the VM, for bench.sh: prints "NAME VALUE UNIT" for each figure, and
# "topology WORDS". A figure is MTU/TEST, see the functions test_*.

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
	exit 1
}

# Two namespaces on a veth pair, or, for a driver that knows no namespaces, one
# link whose two QPs talk to each other.
setup() {
	modprobe -a rdma_rxe ib_uverbs rdma_ucm
	if [ "$topology" = netns ]; then
		ip netns add bench1
		ip netns add bench2
		ip link add v1 netns bench1 type veth peer name v2 netns bench2
		for i in 1 2; do
			in_ns "$i" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
			in_ns "$i" ip link set lo up
			in_ns "$i" ip addr add "10.7.0.$i/24" dev "v$i"
			in_ns "$i" ip link set "v$i" up
		done
		for i in 1 2; do
			in_ns "$i" rdma link add "rxb$i" type rxe netdev "v$i" || exit
		done
		link1=rxb1 link2=rxb2 ip1=10.7.0.1 dev1=v1 dev2=v2
	else
		ip link add v1 type veth peer name v2
		ip addr add 10.7.0.1/24 dev v1
		ip link set v1 up
		ip link set v2 up
		rdma link add rxb1 type rxe netdev v1 || exit
		link1=rxb1 link2=rxb1 ip1=10.7.0.1 dev1=v1 dev2=v2
	fi
}

set_mtu() {
	in_ns 1 ip link set "$dev1" mtu "$1"
	in_ns 2 ip link set "$dev2" mtu "$1"
	sleep 0.2
	gid1=$(gid "$link1" "$ip1")
	gid2=$gid1
	[ "$topology" != netns ] || gid2=$(gid "$link2" 10.7.0.2)
	in_ns 1 ping -c 1 -W 1 "$ip1" >/dev/null
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
	say "no server: $*"
	cat "$tmp/server" >&2
	return 1
}

# perftest PROGRAM COLUMN OPTION...: a figure of its table
perftest() {
	local program=$1 column=$2
	shift 2
	port=$((port + 1))
	server "$program" -d "$link1" -x "$gid1" -p "$port" -F "$@" || return
	in_ns 2 timeout 300 "$program" -d "$link2" -x "$gid2" -p "$port" -F "$@" "$ip1" \
		>"$tmp/client" 2>&1 || { tail -n 5 "$tmp/client" >&2; return 1; }
	wait "${pids[-1]}"
	awk -v c="$column" '/^ *#bytes/ { getline; print $c }' "$tmp/client"
}

bw() { value=$(perftest "$1" 4 "${@:2}") && unit=MiB/s; }		# average
rate() { value=$(perftest "$1" 5 "${@:2}") && unit=Mmsg/s; }

# qperf TEST OPTION...: seconds and bytes are plain numbers with -u and -e
qperf_() {
	local qport=$((port += 1))
	server qperf -lp "$qport" || return
	in_ns 2 timeout 300 qperf -lp "$qport" -uu "$ip1" -t 1 "${@:2}" "$1" >"$tmp/client" 2>&1 ||
		{ tail -n 5 "$tmp/client" >&2; return 1; }
	kill "${pids[-1]}"
	wait "${pids[-1]}"
	# "    bw  =  1.24 GB/sec"; -uu has plain bytes/sec, and nanoseconds or seconds
	value=$(awk '/ (bw|latency) +=/ { gsub(",", "", $3); print $3, $4; exit }' "$tmp/client")
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
	# by time: with -n, iperf3 notices the end a second late
	in_ns 2 timeout 300 iperf3 -c "$ip1" -p "$port" -t "$1" -J >"$tmp/client" || return
	wait "${pids[-1]}"
	value=$(jq '.end.sum_received.bits_per_second / 8 / 1048576' "$tmp/client") unit=MiB/s
}

# what the counters of both links have come to, on stderr
rdma_statistic() {
	for i in 1 2; do
		in_ns "$i" rdma -p statistic show link | grep -v ' 0 *$' >&2
	done
}

# times N: iterations; a profile is the difference of two runs
times() { echo $(($1 * scale)) | tee "$tmp/iterations"; }

# Tests
test_send_64k() { bw ib_send_bw -e -s 65536 -n "$(times 1000)"; }
test_read_64k() { bw ib_read_bw -e -s 65536 -n "$(times 1000)"; }
test_write_64k() { qperf_ rc_rdma_write_bw -cm 1 -m 65536; }
test_writep_64k() { bw ib_write_bw -s 65536 -n "$(times 1000)"; }
test_send_4k() { bw ib_send_bw -e -s 4096 -n "$(times 5000)"; }
test_read_4k() { bw ib_read_bw -e -s 4096 -n "$(times 5000)"; }
test_send_1m() { bw ib_send_bw -e -s 1048576 -n "$(times 100)"; }
test_read_1m() { bw ib_read_bw -e -s 1048576 -n "$(times 100)"; }
test_send_64b() { rate ib_send_bw -e -s 64 -n "$(times 10000)"; }
test_send_64b_list() { rate ib_send_bw -e -s 64 -n "$(times 20000)" -l 32 -r 1024; }
test_write_64b() { rate ib_write_bw -s 64 -n "$(times 10000)"; }
test_write_64b_list() { rate ib_write_bw -s 64 -n "$(times 20000)" -l 32; }
test_send_lat() { qperf_ rc_lat -cm 1 -m 8; }
test_write_lat() { qperf_ rc_rdma_write_lat -cm 1 -m 8; }
test_read_lat() { qperf_ rc_rdma_read_lat -cm 1 -m 8; }
# the latency of qperf's tests, by number, for a profile
test_sendp_lat() { bw ib_send_lat -e -s 8 -n "$(times 2000)"; }
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
test_uc_64k() { bw ib_send_bw -c UC -e -s 65536 -n "$(times 500)"; }
test_ud_1k() { bw ib_send_bw -c UD -e -s 1024 -n "$(times 5000)"; }
test_tcp_lat() { qperf_ tcp_lat -m 8; }
test_tcp_bw() { qperf_ tcp_bw; }
test_tcp() { iperf 1; }
test_tcp_loss() { loss 1%; iperf 1; loss 0; }
test_send_loss() { loss 1%; bw ib_send_bw -e -s 65536 -n "$(times 500)" -u 8; loss 0; }
test_read_loss() { loss 1%; bw ib_read_bw -e -s 65536 -n "$(times 500)" -u 8; loss 0; }
# the same with real ICRCs
icrc() { echo "$1" >/sys/module/rdma_rxe/parameters/icrc_token 2>/dev/null; }
test_send_icrc() { icrc N && test_send_64k; icrc Y; }
test_read_icrc() { icrc N && test_read_64k; icrc Y; }

topology=${TOPOLOGY:-netns}
setup >&2
echo "topology $topology"
last='' scale=${SCALE:-1}
for figure; do
	mtu=${figure%/*} name=${figure#*/} value='' unit=-
	[ "$mtu" = "$last" ] || set_mtu "$mtu"
	last=$mtu
	if [ -z "${PROFILE-}" ]; then
		"test_$name" >&2
		echo "$figure ${value:--} $unit"
		[ -z "${STATISTIC-}" ] || rdma_statistic
		continue
	fi
	for scale in 8 16; do
		python3 "${PROFILE}" start
		"test_$name" >&2
		python3 "${PROFILE}" stop
		echo "$figure $(cat "$tmp/iterations") iterations"
	done
	scale=1
	echo "$figure ${value:--} $unit"
done
[ -z "${PROFILE-}" ] || awk '$2 ~ /[tTwW]/ { print "sym", $1, $3 }' /proc/kallsyms
