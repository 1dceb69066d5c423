#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The netdev goes down and up, changes its MTU or its address under traffic:
# QPs go on where they can, and end in an error where not.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs || return
	check setup_pair 4500 || return
}

# start_stream [recover]: takes no error for an answer
start_stream()
{
	local out

	[ -n "${link2-}" ] || { skip "verbs is not built"; return 1; }
	find_gid gid1 "$link1" "$ip1" && find_gid gid2 "$link2" "$ip2" || return
	out=$tmp/stream.$((out_nr += 1))
	stream_out=$out
	# as long as the test likes: how long that is, the machine decides
	start '' "$out" 120 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2" ${1:+1000}
	stream=$started
	check poll_until 15 file_has "$out" ready || {
		diag_file "$out"
		return 1
	}
}

check_stream_ends_well()
{
	check_not ended "$stream" || { diag_file "$stream_out"; return; }
	kill "$stream"
	check ends "$stream" 30 || diag_file "$stream_out"
}

flows()
{
	local n

	n=$(counter "$link1" sent_pkts)
	poll_until 10 counter_above "$link1" sent_pkts $((n + 50))
}

short_interruption_is_survived()
{
	start_stream recover || return
	check ip -n "$ns1" link set "$dev1" down
	sleep 0.1
	check ip -n "$ns1" link set "$dev1" up
	check_active "$link1"
	check flows
	check_stream_ends_well
}

peer_s_interruption_is_survived()
{
	start_stream recover || return
	check ip -n "$ns2" link set "$dev2" down
	sleep 0.1
	check ip -n "$ns2" link set "$dev2" up
	check flows
	check_stream_ends_well
}

long_interruption_ends_in_an_error()
{
	start_stream || return
	check ip -n "$ns1" link set "$dev1" down
	check_state "$link1" DOWN
	check ends "$stream" 30
	check file_has "$stream_out" "^error: "
	check ip -n "$ns1" link set "$dev1" up
	check_active "$link1"
	check poll_until 10 answers "$ns2" "$ip1"
	check ping "$ns1" "$ip1" "$ns2" -C 5
}

# IPv6 addresses go with "down"; bring them back
other_family_addresses()
{
	up "$ns1" "$dev1" "$ip6_1/64" 2>/dev/null
	up "$ns2" "$dev2" "$ip6_2/64" 2>/dev/null
	return 0
}

mtu_changes()
{
	start_stream recover || return
	# the path MTU of the QPs fits no more: they must not do worse than fail
	check ip -n "$ns1" link set "$dev1" mtu 1500
	check ip -n "$ns2" link set "$dev2" mtu 1500
	sleep 0.1
	check ip -n "$ns1" link set "$dev1" mtu 4500
	check ip -n "$ns2" link set "$dev2" mtu 4500
	check flows
	check_stream_ends_well
}

# What is too large for a netdev stays here: it must not come to an ICMP, by which IP
# would remember the small MTU for ten minutes.
small_mtu_is_not_remembered()
{
	local n

	start_stream || return
	n=$(counter "$link1" send_err)
	check ip -n "$ns1" link set "$dev1" mtu 500
	check poll_until 10 counter_above "$link1" send_err "$n"
	check ip -n "$ns1" link set "$dev1" mtu 4500
	equal '' "$(ip -n "$ns1" route show cache "$ip2" | grep -w mtu)" "MTUs in the cache of routes"
	stop "$stream"
	verbs exchange
}

# address_goes 4|6
address_goes()
{
	local ip1=$ip1 ip2=$ip2 len=24

	if [ "$1" = 6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		ip1=$ip6_1 ip2=$ip6_2 len=64
	fi
	other_family_addresses
	start_stream || return
	check ip -n "$ns1" addr del "$ip1/$len" dev "$dev1"
	check ends "$stream" 30
	check file_has "$stream_out" "^(error|post_send): "
	check up "$ns1" "$dev1" "$ip1/$len"
	check find_gid gid1 "$link1" "$ip1"
	check ping "$ns1" "$ip1" "$ns2" -C 5
}

neighbour_is_wrong_for_a_while()
{
	start_stream recover || return
	check ip -n "$ns1" neigh replace "$ip2" lladdr 02:00:00:00:00:99 dev "$dev1"
	sleep 0.1
	check ip -n "$ns1" neigh del "$ip2" dev "$dev1"
	check flows
	check_stream_ends_well
}

# The RDMA core makes all GIDs of the netdev anew.
mac_address_changes()
{
	start_stream || return
	check ip -n "$ns2" link set "$dev2" address 02:00:00:00:00:77
	check ip -n "$ns1" neigh flush dev "$dev1"
	stop "$stream"
	check find_gid gid2 "$link2" "$ip2"
	check ping "$ns1" "$ip1" "$ns2" -C 5
	check ping "$ns2" "$ip2" "$ns1" -C 5
}

# A more specific route with its own source address and interface
routes_change()
{
	local dev3 dev4

	start_stream recover || return
	check setup_veth dev3 "$ns1" dev4 "$ns2" 4500 || return
	check up "$ns1" "$dev3" && check up "$ns2" "$dev4" || return
	check ip -n "$ns1" route add "$ip2/32" dev "$dev3"
	check ip -n "$ns2" route add "$ip1/32" dev "$dev4"
	check flows
	check uses "$ns1" "$dev3"
	check ip -n "$ns1" route del "$ip2/32" dev "$dev3"
	check ip -n "$ns2" route del "$ip1/32" dev "$dev4"
	check flows
	check_stream_ends_well
}

# uses NAMESPACE NETDEV: packets leave by it
uses()
{
	[ "$(in_ns "$1" cat "/sys/class/net/$2/statistics/tx_bytes")" -gt 100000 ]
}

netdev_is_renamed()
{
	start_stream recover || return
	ip -n "$ns1" link set "$dev1" name renamed0 2>/dev/null || {
		skip "this kernel does not rename a netdev that is up"
		stop "$stream"
		return
	}
	dev1=renamed0
	check flows
	check_stream_ends_well
	check has_state "$link1" ACTIVE
}

# has_events FILE PORT_ERR-COUNT PORT_ACTIVE-COUNT
has_events()
{
	[ "$(grep -c 'PORT_ERR' "$1")" -ge "$2" ] && [ "$(grep -c 'PORT_ACTIVE' "$1")" -ge "$3" ]
}

# flap NUMBER NAMESPACE NETDEV: what the watcher in $out sees of it
flap()
{
	check ip -n "$2" link set "$3" down
	check_state "$link1" DOWN
	check poll_until 5 has_events "$out" "$1" $(($1 - 1))
	check ip -n "$2" link set "$3" up
	check_active "$link1"
	check poll_until 5 has_events "$out" "$1" "$1"
}

port_events_come_once()
{
	local out=$tmp/asyncwatch

	command -v ibv_asyncwatch >/dev/null || { skip "ibv_asyncwatch is not installed"; return; }
	start "$ns1" "$out" 60 stdbuf -oL ibv_asyncwatch -d "$link1"
	check poll_until 15 file_has "$out" "async event FD" || { diag_file "$out"; return; }
	# down, and without carrier
	flap 1 "$ns1" "$dev1"
	flap 2 "$ns2" "$dev2"
	flap 3 "$ns1" "$dev1"
	# time for one that is too much
	sleep 0.5
	equal 3 "$(grep -c PORT_ERR "$out")" "PORT_ERR events"
	equal 3 "$(grep -c PORT_ACTIVE "$out")" "PORT_ACTIVE events"
	[ -z "$failed" ] || diag_file "$out"
	stop "$started"
}

begin
run_tests \
	port_events_come_once \
	short_interruption_is_survived \
	peer_s_interruption_is_survived \
	long_interruption_ends_in_an_error \
	mtu_changes \
	small_mtu_is_not_remembered \
	neighbour_is_wrong_for_a_while \
	routes_change \
	mac_address_changes \
	"address_goes 4" "address_goes 6" \
	netdev_is_renamed
