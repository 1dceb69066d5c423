#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Unmodified programs between two namespaces on a veth pair: rping, ibv_*pingpong
# and perftest, at MTU 1500 and 4500.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 1500 || return
}

rc()
{
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "$@"
}

ud()
{
	check pingpong ud "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "$@"
}

pf()
{
	check perf "$1" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "${@:2}"
}

rping()
{
	check ping "$ns1" "$ip1" "$ns2" "$@"
}

ibv_rc_pingpong()
{
	rc -n 100 -c "$@"
}

ibv_ud_pingpong()
{
	ud -n 100 -c "$@"
}

ib_send_bw() { pf ib_send_bw "$@"; }
ib_write_bw() { pf ib_write_bw "$@"; }
ib_read_bw() { pf ib_read_bw "$@"; }
ib_send_lat() { pf ib_send_lat "$@"; }
ib_write_lat() { pf ib_write_lat "$@"; }

mtu_is()
{
	in_ns "${link_ns[$1]}" ibv_devinfo -d "$1" | grep -q "active_mtu:.*$2 "
}

mtu_follows_the_netdev()
{
	check poll_until 5 mtu_is "$link1" 1024
	check ip -n "$ns1" link set "$dev1" mtu 4500
	check ip -n "$ns2" link set "$dev2" mtu 4500
	check poll_until 5 mtu_is "$link1" 4096
	check poll_until 5 mtu_is "$link2" 4096
}

bytes_equal()
{
	local name

	for name in bytes pkts; do
		[ -n "$(counter "$link1" "sent_$name")" ] || return
		[ "$(counter "$link1" "sent_$name")" = "$(counter "$link2" "rcvd_$name")" ] &&
		[ "$(counter "$link2" "sent_$name")" = "$(counter "$link1" "rcvd_$name")" ] ||
			return
	done
}

# after all that traffic, without loss
byte_counters_of_both_ends_agree()
{
	check soon bytes_equal ||
		diag "$(in_ns "$ns1" rdma statistic show link "$link1/1")" \
			"$(in_ns "$ns2" rdma statistic show link "$link2/1")"
	check counter_above "$link1" sent_bytes 100000
	in_ns "$ns1" rdma statistic show link "$link1/1" >"$tmp/statistic"
	check grep -q "sent_bytes [0-9]" "$tmp/statistic"
}

resources_are_shown()
{
	local out=$tmp/hold

	helper verbs || return
	start "$ns1" "$out" 30 "$here/verbs" hold "$link1" "$gid1"
	check poll_until 10 file_has "$out" ready || return
	in_ns "$ns1" rdma resource show qp link "$link1/1" >"$tmp/qp"
	in_ns "$ns1" rdma resource show mr dev "$link1" >"$tmp/mr"
	in_ns "$ns1" rdma resource show cq dev "$link1" >"$tmp/cq"
	check grep -q "type RC state INIT.* comm verbs" "$tmp/qp"
	check grep -q "mrlen 65536 .*comm verbs" "$tmp/mr"
	check grep -q "cqe .*comm verbs" "$tmp/cq"
	stop "$started"
	check poll_until 5 no_user_objects
}

no_user_objects()
{
	! in_ns "$ns1" rdma resource show qp link "$link1/1" | grep -q 'comm [a-z]' &&
		! in_ns "$ns1" rdma resource show mr dev "$link1" | grep -q 'comm [a-z]'
}

is_reachable()
{
	[[ $(ip -n "$ns1" neigh show "$ip2" dev "$dev1") = *REACHABLE* ]]
}

# While the peer answers, its neighbour entry is confirmed, and nobody asks for it (RFC
# 4861, 7.3.1)
neighbour_is_confirmed()
{
	local entry

	[ -x "$here/verbs" ] || { skip "verbs is not built"; return; }
	check ip -n "$ns1" neigh flush dev "$dev1"
	start '' "$tmp/stream" 60 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2" 50
	check poll_until 15 file_has "$tmp/stream" ready || diag_file "$tmp/stream"
	# it begins with a delay where the peer has asked first; then it is not asked for 15 s
	check poll_until 10 is_reachable
	sleep 4
	# seconds since it was used, confirmed and updated
	entry=$(ip -n "$ns1" -s neigh show "$ip2" dev "$dev1")
	[[ $entry =~ used\ [0-9]+/([0-9]+)/ ]] && [ "${BASH_REMATCH[1]}" -lt 3 ] || fail "$entry"
	stop "$started"
}

begin
run_tests \
	"rping -C 20 -S 64" \
	"rping -C 10 -S 65000" \
	"ibv_rc_pingpong -s 4096 -e" \
	"ibv_rc_pingpong -m 256" \
	"ibv_rc_pingpong -m 512 -s 65536" \
	"ibv_ud_pingpong -s 1000" \
	"ib_send_bw -n 100 -s 65536" \
	"ib_read_bw -n 50 -s 65536 -q 4" \
	mtu_follows_the_netdev \
	"ibv_rc_pingpong -m 1024 -s 1048576 -n 20" \
	"ibv_rc_pingpong -m 2048 -s 8193" \
	"ibv_rc_pingpong -m 4096 -s 8193 -e" \
	"ibv_ud_pingpong -e" \
	"ib_send_bw -n 100 -s 2 -b" \
	"ib_send_bw -n 50 -s 65536 -e -R" \
	"ib_send_bw -n 100 -s 2048 -c UD" \
	"ib_write_bw -n 50 -s 65536 -q 4" \
	"ib_write_bw -n 20 -s 1048576 -R" \
	"ib_read_bw -n 20 -s 1048576 -e" \
	"ib_send_lat -n 100 -s 8 -I 64" \
	"ib_write_lat -n 100 -s 300 -I 0 -m 256" \
	byte_counters_of_both_ends_agree \
	neighbour_is_confirmed \
	resources_are_shown
