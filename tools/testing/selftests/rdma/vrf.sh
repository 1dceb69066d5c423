#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Netdevs in VRFs: sockets of the VRF, the same address in two of them, a netdev that
# comes to a VRF or leaves it.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs || return
	check setup_ns ns1 ns2 ns3 || return
	add_netdev "$ns1" red type vrf table 10 || return
	add_netdev "$ns1" blue type vrf table 20 || return
	check ip -n "$ns1" link set red up && check ip -n "$ns1" link set blue up
	check setup_veth dev_red "$ns1" dev2 "$ns2" && check setup_veth dev_blue "$ns1" dev3 "$ns3" || return
	check ip -n "$ns1" link set "$dev_red" master red
	check ip -n "$ns1" link set "$dev_blue" master blue
	# the same addresses at both
	for dev in "$dev_red" "$dev_blue"; do
		check up "$ns1" "$dev" 10.15.1.1/24 fd00:15:1::1/64
	done
	check up "$ns2" "$dev2" 10.15.1.2/24 fd00:15:1::2/64
	check up "$ns3" "$dev3" 10.15.1.2/24 fd00:15:1::2/64
	check setup_link red "$ns1" "$dev_red" && check setup_link blue "$ns1" "$dev_blue" || return
	check setup_link link2 "$ns2" "$dev2" && check setup_link link3 "$ns3" "$dev3"
}

# sockets EXPECTED-NUMBER: of port 4791 in ns1
sockets()
{
	[ "$(ss -N "$ns1" -H -l -u -n 'sport = :4791' | wc -l)" -eq "$1" ]
}

# One socket for each family and VRF, bound to it; none that hears all.
sockets_are_the_vrf_s()
{
	local out=$tmp/sockets

	ss -N "$ns1" -H -l -u -n 'sport = :4791' >"$out"
	equal "$(have_ipv6 && echo 4 || echo 2)" "$(wc -l <"$out")" "sockets" || diag_file "$out"
	check file_has "$out" '0\.0\.0\.0%red:4791'
	check file_has "$out" '0\.0\.0\.0%blue:4791'
}

# both 4|6
both()
{
	local ip1=10.15.1.1 ip2=10.15.1.2 before

	if [ "$1" = 6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		ip1=fd00:15:1::1 ip2=fd00:15:1::2
	fi
	before=$(counter "$link3" rcvd_pkts)
	exchange "$ns1" "$red" "$ip1" "$ns2" "$link2" "$ip2"
	equal "$before" "$(counter "$link3" rcvd_pkts)" "packets at the peer in the other VRF"
	before=$(counter "$link2" rcvd_pkts)
	exchange "$ns1" "$blue" "$ip1" "$ns3" "$link3" "$ip2"
	equal "$before" "$(counter "$link2" rcvd_pkts)" "packets at the peer in the other VRF"
}

# A packet for the number of a QP in one VRF that comes in at the other is dropped.
foreign_qp_number_is_not_reached()
{
	local out=$tmp/listen gid qpn

	helper packets || return
	check find_gid gid "$red" 10.15.1.1 || return
	start '' "$out" 60 "$here/verbs" listen "$red" "$gid"
	check poll_until 10 file_has "$out" ready || return
	qpn=$(sed -n 's/^ready //p' "$out")
	check in_ns "$ns3" "$here/packets" valid 10.15.1.2 10.15.1.1 "$qpn"
	check poll_until 5 has_drop || diag "red $(drops "$red"), blue $(drops "$blue")"
	check_not file_has "$out" "32 bytes"
	check in_ns "$ns2" "$here/packets" valid 10.15.1.2 10.15.1.1 "$qpn"
	check poll_until 5 file_has "$out" "32 bytes"
	stop "$started"
}

has_drop()
{
	[ "$(drops "$red")" -gt 0 ] || [ "$(drops "$blue")" -gt 0 ]
}

# An address that one VRF alone has: the connection manager finds it. A client there
# says its own address, else it looks for a route outside of VRFs.
connection_manager()
{
	check up "$ns1" "$dev_red" 10.15.2.1/24 && check up "$ns2" "$dev2" 10.15.2.2/24 || return
	exchange "$ns1" "$red" 10.15.2.1 "$ns2" "$link2" 10.15.2.2
	check ping "$ns1" 10.15.2.1 "$ns2" -C 3
	port=$((port + 1))
	server=(rping -s -a 10.15.2.2 -p "$port" -V -C 3)
	client=(rping -c -a 10.15.2.2 -I 10.15.2.1 -p "$port" -V -C 3)
	check run_pair "$ns2" "$ns1" cm_listens
}

# An address on the VRF's own netdev
address_of_the_vrf()
{
	local vrf

	check up "$ns1" red 10.15.3.1/32 || return
	check ip -n "$ns2" route add 10.15.3.1/32 via 10.15.1.1
	check setup_link vrf "$ns1" red || return
	exchange "$ns1" "$vrf" 10.15.3.1 "$ns2" "$link2" 10.15.1.2
	check link_del "$vrf"
}

# works_in_red: a stream that runs meanwhile ends with an error
netdev_leaves_and_comes()
{
	local i

	check ip -n "$ns1" link set "$dev_red" nomaster
	exchange "$ns1" "$red" 10.15.1.1 "$ns2" "$link2" 10.15.1.2
	exchange "$ns1" "$blue" 10.15.1.1 "$ns3" "$link3" 10.15.1.2
	check ip -n "$ns1" link set "$dev_red" master red
	exchange "$ns1" "$red" 10.15.1.1 "$ns2" "$link2" 10.15.1.2
	for i in 1 2 3 4 5; do
		check ip -n "$ns1" link set "$dev_red" nomaster
		check ip -n "$ns1" link set "$dev_red" master red
	done
	exchange "$ns1" "$red" 10.15.1.1 "$ns2" "$link2" 10.15.1.2
	# IPv6 addresses do not come along
	check up "$ns1" "$dev_red" fd00:15:1::1/64
	! have_ipv6 || exchange "$ns1" "$red" fd00:15:1::1 "$ns2" "$link2" fd00:15:1::2
	sockets_are_the_vrf_s
}

vrf_goes_under_traffic()
{
	local gid1 gid2 out=$tmp/stream

	check find_gid gid1 "$red" 10.15.1.1 && check find_gid gid2 "$link2" 10.15.1.2 || return
	start '' "$out" 60 "$here/verbs" stream "$red" "$gid1" "$link2" "$gid2"
	check poll_until 15 file_has "$out" ready || return
	check takes_less "$prompt" ip -n "$ns1" link del red
	check ends "$started" 30 || diag_file "$out"
	exchange "$ns1" "$red" 10.15.1.1 "$ns2" "$link2" 10.15.1.2
	exchange "$ns1" "$blue" 10.15.1.1 "$ns3" "$link3" 10.15.1.2
	check_not file_has <(ss -N "$ns1" -H -l -u -n) red:4791
}

namespace_goes()
{
	check ip netns del "$ns1"
	forget_ns "$ns1"
	check poll_until 10 link_gone "$red"
	check poll_until 10 link_gone "$blue"
	# the other ends of its veth pairs have gone with it
	check poll_until 10 link_gone "$link2"
	check poll_until 10 link_gone "$link3"
}

begin
run_tests \
	sockets_are_the_vrf_s \
	"both 4" "both 6" \
	foreign_qp_number_is_not_reached \
	connection_manager \
	address_of_the_vrf \
	netdev_leaves_and_comes \
	vrf_goes_under_traffic \
	namespace_goes
