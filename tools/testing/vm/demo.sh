#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# demo.sh: RDMA between two network namespaces, as a transcript.
#
# "make demo" runs it in a virtual machine. Each command is shown before its
# output. Ends with status 0 if every command did what it should.

set -uo pipefail

status=0
tmp=$(mktemp -d)
pids=()

# shellcheck disable=SC2317 # by the trap
finish() {
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null
	done
	ip netns del blue 2>/dev/null
	ip netns del green 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT

wrong() {
	echo "!!! $*"
	status=1
}

# say TEXT: a comment
say() { printf '\n# %s\n' "$*"; }

# run COMMAND...: shown as it would be typed, and has to succeed
run() {
	echo "\$ $*"
	timeout 60 "$@" 2>&1 | show "$@"
	[ "${PIPESTATUS[0]}" -eq 0 ] || wrong "that has failed"
}

# What a program says, without what nobody reads.
show() {
	case $* in
	*ib_*_bw*|*ib_*_lat*) grep -E -A 1 '^ *#bytes' ;;
	*rping*) cut -c -80 | sed -n -e '1,2p' -e '2s/.*/.../p' ;;
	*statistic*) grep -oE '[a-z_]+ [0-9]+' | grep -v ' 0$' | sed 's/^/    /' ;;
	*) cat ;;
	esac
}

# server NAMESPACE COMMAND...: in the background; ready when it listens
server() {
	local ns=$1 log=$tmp/server tries
	shift
	echo "\$ ip netns exec $ns $* &"
	ip netns exec "$ns" timeout 60 "$@" >"$log" 2>&1 &
	pids+=("$!")
	server=$!
	for ((tries = 0; tries < 200; tries++)); do
		# a TCP port, or an rdma_cm listener
		if [ "$1" = rping ]; then
			! ip netns exec "$ns" rdma resource show cm_id | grep -q LISTEN || return 0
		else
			[ -z "$(ss -N "$ns" -Hltn)" ] || return 0
		fi
		sleep 0.05
	done
	wrong "the server does not listen"
	cat "$log"
}

server_ends() {
	wait "$server" || {
		wrong "the server has failed"
		cat "$tmp/server"
	}
}

# ports WANTED COMMAND...: shows a list of sockets, compares its length
ports() {
	local want=$1 out
	shift
	echo "\$ $*"
	out=$("$@") || wrong "that has failed"
	[ -z "$out" ] || echo "$out"
	[ "$(grep -c . <<<"$out")" -eq "$want" ] || wrong "there should be $want sockets"
}

# state LINK: wait until it is ACTIVE
active() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		! rdma link show "$1/1" | grep -q 'state ACTIVE' || return 0
		sleep 0.05
	done
	wrong "$1 is not active"
}

# gid LINK GID: its index
gid() {
	local i
	for ((i = 0; i < 16; i++)); do
		[ "$(cat "/sys/class/infiniband/$1/ports/1/gids/$i" 2>/dev/null)" != "$2" ] || break
	done
	echo "$i"
}

# perf PROGRAM OPTION...: the same on both sides
perf() {
	local program=$1
	shift
	server blue "$program" -d rxe0 -x "$gid0" -F "$@"
	run ip netns exec green "$program" -d rxe1 -x "$gid1" -F "$@" 10.0.0.1
	server_ends
}

say "The module, and no socket with port 4791 yet"
run uname -r
run modprobe rdma_rxe
# Without udev, nobody loads these on demand
modprobe -q -a ib_uverbs rdma_ucm
echo "\$ modinfo -F version rdma_rxe"
modinfo -F version rdma_rxe
ports 0 ss -Hlun sport = 4791

say "Two network namespaces, joined by a veth pair"
run ip netns add blue
run ip netns add green
run ip link add eth0 mtu 4500 netns blue type veth peer name eth0 mtu 4500 netns green
run ip -n blue addr add 10.0.0.1/24 dev eth0
run ip -n green addr add 10.0.0.2/24 dev eth0
run ip -n blue link set eth0 up
run ip -n green link set eth0 up

say "An RDMA link in each"
run ip netns exec blue rdma link add rxe0 type rxe netdev eth0
run ip netns exec green rdma link add rxe1 type rxe netdev eth0
active rxe0
active rxe1
run ip netns exec blue rdma link show rxe0/1
run ip netns exec green rdma link show rxe1/1

say "Its port is open in these namespaces, and nowhere else"
ports 2 ip netns exec blue ss -Hlun sport = 4791
ports 2 ip netns exec green ss -Hlun sport = 4791
ports 0 ss -Hlun sport = 4791

gid0=$(gid rxe0 0000:0000:0000:0000:0000:ffff:0a00:0001)
gid1=$(gid rxe1 0000:0000:0000:0000:0000:ffff:0a00:0002)

say "rping: RDMA WRITE, READ and SEND, the data verified (-V)"
server blue rping -s -a 10.0.0.1 -C 100 -S 4000 -V
run ip netns exec green rping -c -a 10.0.0.1 -C 100 -S 4000 -V -v
server_ends

say "perftest: 64 KiB messages"
perf ib_send_bw -s 65536 -n 500
perf ib_write_bw -s 65536 -n 500
perf ib_read_bw -s 65536 -n 500

say "perftest: latency of 8 bytes"
perf ib_send_lat -s 8 -n 500

say "Counters (those that are not 0)"
run ip netns exec blue rdma statistic show link rxe0/1
run ip netns exec green rdma statistic show link rxe1/1

say "Without links, the port is closed again"
run ip netns exec blue rdma link del rxe0
ports 0 ip netns exec blue ss -Hlun sport = 4791
run ip netns exec green rdma link del rxe1
ports 0 ip netns exec green ss -Hlun sport = 4791
ports 0 ss -Hlun sport = 4791
run modprobe -r rdma_rxe

echo
if [ "$status" -eq 0 ]; then
	echo "# All as it should be."
else
	echo "# Something went wrong: see the lines with !!!"
fi
exit "$status"
