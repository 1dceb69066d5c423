#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on netdevs that carry Ethernet: VLAN, macvlan, ipvlan, netkit, VXLAN, tap,
# dummy and lo; MTUs from 1280 to 9000.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs
}

# wire [MTU]: two new namespaces, a veth pair between them that is up
wire()
{
	check new_ns ns1 ns2 && check setup_veth dev1 "$ns1" dev2 "$ns2" "$@" || return
	check up "$ns1" "$dev1" && check up "$ns2" "$dev2"
}

mtu_of()
{
	local mtu

	mtu=$(in_ns "$1" ibv_devinfo -d "$2" | sed -n 's/.*active_mtu:[^0-9]*\([0-9]*\).*/\1/p')
	equal "$3" "$mtu" "active MTU with $4"
}

# mtu NETDEV-MTU IB-MTU
mtu()
{
	wire "$1" || return
	exchange_on "$ns1" "$dev1" "$ns2" "$dev2" - || return
	mtu_of "$ns1" "$link1" "$2" "$1"
	unlink_both
}

# mtus KIND OPTION...: of netdevs above veth
mtus()
{
	local mtu

	wire 9100 || return
	add_netdev "$ns1" top0 link "$dev1" type "$@" || return
	add_netdev "$ns2" top0 link "$dev2" type "$@" || return
	for mtu in 1280:1024 4200:4096 9000:4096; do
		check ip -n "$ns1" link set top0 mtu "${mtu%:*}" || return
		check ip -n "$ns2" link set top0 mtu "${mtu%:*}" || return
		exchange_on "$ns1" top0 "$ns2" top0 - || return
		mtu_of "$ns1" "$link1" "${mtu#*:}" "${mtu%:*}"
		unlink_both
	done
}

mtu_too_small()
{
	local dev link

	check new_ns ns1 && check setup_dummy dev "$ns1" || return
	check ip -n "$ns1" link set "$dev" mtu 300 up
	link=$(random_name rxe)
	check_not link_add "$ns1" "$link" "$dev"
	log_since_start >"$tmp/log"
	check file_has "$tmp/log" "$dev: no RDMA link with an MTU of 300: it has to be 340 at least"
	check_port "$ns1" closed
}

netdev_without_packets_is_refused()
{
	local link

	check new_ns ns1 || return
	modprobe -q vcan
	add_netdev "$ns1" can0 type vcan || return
	link=$(random_name rxe)
	check_not link_add "$ns1" "$link" can0
	log_since_start >"$tmp/log"
	check file_has "$tmp/log" "can0: no RDMA link"
	check_port "$ns1" closed
}

vlan()
{
	wire || return
	add_netdev "$ns1" v7 link "$dev1" type vlan id 7 || return
	add_netdev "$ns2" v7 link "$dev2" type vlan id 7 || return
	exchange_on "$ns1" v7 "$ns2" v7
	link_local_too v7 v7
	unlink_both
}

# link_local_too NETDEV1 NETDEV2
link_local_too()
{
	have_ipv6 || return
	check up "$ns1" "$1" fe80::7:1/64 && check up "$ns2" "$2" fe80::7:2/64 || return
	exchange "$ns1" "$link1" fe80::7:1 "$ns2" "$link2" fe80::7:2
}

# the links are on the parents, the addresses on the VLANs
vlan_gid_of_the_parent()
{
	wire || return
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2" || return
	add_netdev "$ns1" v9 link "$dev1" type vlan id 9 || return
	add_netdev "$ns2" v9 link "$dev2" type vlan id 9 || return
	check up "$ns1" v9 10.12.9.1/24 fd00:12:9::1/64
	check up "$ns2" v9 10.12.9.2/24 fd00:12:9::2/64
	exchange "$ns1" "$link1" 10.12.9.1 "$ns2" "$link2" 10.12.9.2
	! have_ipv6 || exchange "$ns1" "$link1" fd00:12:9::1 "$ns2" "$link2" fd00:12:9::2
	link_local_too v9 v9
	check ping "$ns1" 10.12.9.1 "$ns2" -C 3
	# a link on the VLAN beside that on its parent, and without it
	check setup_link vlan_link "$ns1" v9 || return
	exchange "$ns1" "$vlan_link" 10.12.9.1 "$ns2" "$link2" 10.12.9.2
	exchange "$ns1" "$link1" 10.12.9.1 "$ns2" "$link2" 10.12.9.2
	check link_del "$link1"
	exchange "$ns1" "$vlan_link" 10.12.9.1 "$ns2" "$link2" 10.12.9.2
	check ip -n "$ns1" link del v9
	check soon link_gone "$vlan_link"
	check_soon_open_only_in "$ns2"
	check link_del "$link2"
}

# in a namespace of its own, beside a link on its parent
macvlan()
{
	local ns3 parent

	wire || return
	check setup_ns ns3 || return
	add_netdev "$ns1" mac0 link "$dev1" netns "$ns3" type macvlan mode bridge || return
	check up "$ns1" "$dev1" 10.12.10.1/24
	check setup_link parent "$ns1" "$dev1" || return
	exchange_on "$ns3" mac0 "$ns2" "$dev2"
	# the parent's link has the macvlan's GIDs too
	exchange "$ns3" "$parent" "$ip1" "$ns2" "$link2" "$ip2"
	check link_del "$link1"
	exchange "$ns3" "$parent" "$ip1" "$ns2" "$link2" "$ip2"
	check link_del "$link2"
	check ip netns del "$ns3"
	forget_ns "$ns3"
	check link_del "$parent"
	check_soon_closed_everywhere
}

# two on one parent, which know each other
macvlan_siblings()
{
	local ns3

	wire || return
	check setup_ns ns3 || return
	add_netdev "$ns1" mac1 link "$dev1" netns "$ns3" type macvlan mode bridge || return
	add_netdev "$ns1" mac2 link "$dev1" type macvlan mode bridge || return
	exchange_on "$ns3" mac1 "$ns1" mac2
	! have_ipv6 || {
		check up "$ns3" mac1 fe80::8:1/64 && check up "$ns1" mac2 fe80::8:2/64
		exchange "$ns3" "$link1" fe80::8:1 "$ns1" "$link2" fe80::8:2
	}
	unlink_both
}

ipvlan_l2()
{
	local ns3

	wire || return
	check setup_ns ns3 || return
	add_netdev "$ns1" ipv0 link "$dev1" netns "$ns3" type ipvlan mode l2 || return
	exchange_on "$ns3" ipv0 "$ns2" "$dev2"
	unlink_both
}

# netkit OPTION...
netkit()
{
	local peer

	check new_ns ns1 ns2 || return
	add_netdev "$ns1" kit0 type netkit "$@" || return
	peer=$(ip -n "$ns1" -o link show | sed -n 's/^[0-9]*: \([^@:]*\)@kit0: .*/\1/p')
	check ip -n "$ns1" link set "$peer" netns "$ns2" || return
	exchange_on "$ns1" kit0 "$ns2" "$peer" || return
	unlink_both
}

vxlan()
{
	wire || return
	check up "$ns1" "$dev1" 10.12.11.1/24 && check up "$ns2" "$dev2" 10.12.11.2/24 || return
	add_netdev "$ns1" vx0 type vxlan id 42 local 10.12.11.1 remote 10.12.11.2 dstport 4789 || return
	add_netdev "$ns2" vx0 type vxlan id 42 local 10.12.11.2 remote 10.12.11.1 dstport 4789 || return
	exchange_on "$ns1" vx0 "$ns2" vx0
	unlink_both
}

tap()
{
	setup_tun tap || return
	exchange_on "$ns1" tap0 "$ns2" tap0
	end_tun
}

dummy()
{
	local dev

	check new_ns ns1 && check setup_dummy dev "$ns1" || return
	check up "$ns1" "$dev" 10.12.12.1/24 fd00:12:12::1/64
	check setup_link link1 "$ns1" "$dev" || return
	exchange "$ns1" "$link1" 10.12.12.1 "$ns1" "$link1" 10.12.12.1
	! have_ipv6 || exchange "$ns1" "$link1" fd00:12:12::1 "$ns1" "$link1" fd00:12:12::1
	check link_del "$link1"
}

lo()
{
	check new_ns ns1 && check up "$ns1" lo 10.12.13.1/32 fd00:12:13::1/128 || return
	check setup_link link1 "$ns1" lo || return
	exchange "$ns1" "$link1" 10.12.13.1 "$ns1" "$link1" 10.12.13.1
	! have_ipv6 || exchange "$ns1" "$link1" fd00:12:13::1 "$ns1" "$link1" fd00:12:13::1
	check link_del "$link1"
}

begin
run_tests \
	"mtu 1280 1024" "mtu 2200 2048" "mtu 4200 4096" "mtu 9000 4096" \
	"mtus vlan id 8" "mtus macvlan mode bridge" "mtus ipvlan mode l2" \
	mtu_too_small \
	netdev_without_packets_is_refused \
	vlan \
	vlan_gid_of_the_parent \
	macvlan \
	macvlan_siblings \
	ipvlan_l2 \
	netkit "netkit mode l2" \
	vxlan \
	tap \
	dummy \
	lo
