#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# GIDs of all kinds: IPv4, IPv6 global and link-local; without IPv6; addresses
# that come and go.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 1500 || return
}

# between ADDRESS1 ADDRESS2 OPTION...: ibv_rc_pingpong between the GIDs of two
# addresses; what it exchanges before goes over IPv4
between()
{
	local gid1 gid2

	check find_gid gid1 "$link1" "$1" || return
	check find_gid gid2 "$link2" "$2" || return
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 50 -c "${@:3}"
}

need_ipv6()
{
	have_ipv6 || { skip "this kernel has no IPv6"; return 1; }
}

ipv4()
{
	between "$ip1" "$ip2" -s 20000
}

ipv6_global()
{
	need_ipv6 || return
	between "$ip6_1" "$ip6_2" -s 20000
}

ipv6_link_local()
{
	need_ipv6 || return
	check poll_until 10 have_link_local || return
	between "$(link_local "$ns1" "$dev1")" "$(link_local "$ns2" "$dev2")"
}

have_link_local()
{
	[ -n "$(link_local "$ns1" "$dev1")" ] && [ -n "$(link_local "$ns2" "$dev2")" ]
}

rping_ipv4()
{
	check ping "$ns1" "$ip1" "$ns2" -C 10
}

rping_ipv6()
{
	need_ipv6 || return
	check ping "$ns1" "$ip6_1" "$ns2" -C 10
}

rping_ipv6_link_local()
{
	local addr

	need_ipv6 || return
	addr=$(link_local "$ns1" "$dev1")
	port=$((port + 1))
	server=(rping -s -a "$addr%$dev1" -p "$port" -V -C 10)
	client=(rping -c -a "$addr%$dev2" -p "$port" -V -C 10)
	check run_pair "$ns1" "$ns2" cm_listens
}

ud_over_ipv6()
{
	local gid1 gid2

	need_ipv6 || return
	check find_gid gid1 "$link1" "$ip6_1" || return
	check find_gid gid2 "$link2" "$ip6_2" || return
	check pingpong ud "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 50 -c -s 900
}

# two link-local addresses that are equal, on two links of one namespace
same_link_local_on_two_links()
{
	local dev3 dev4 link3 link4 gid3 gid4 ns1_ll=fe80::77

	need_ipv6 || return
	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check up "$ns1" "$dev1" "$ns1_ll/64"
	check up "$ns1" "$dev3" "$ns1_ll/64" && check up "$ns2" "$dev4" fe80::88/64 || return
	check setup_link link3 "$ns1" "$dev3" && check setup_link link4 "$ns2" "$dev4" || return
	check find_gid gid3 "$link3" "$ns1_ll" && check find_gid gid4 "$link4" fe80::88 || return
	check pingpong rc "$ns1" "$link3" "$gid3" "$ns2" "$link4" "$gid4" "$ip1" -n 20 -c
	between "$ns1_ll" "$(link_local "$ns2" "$dev2")"
	check link_del "$link3"
	check link_del "$link4"
}

address_that_comes_later()
{
	check up "$ns1" "$dev1" 10.77.0.1/24
	check up "$ns2" "$dev2" 10.77.0.2/24
	between 10.77.0.1 10.77.0.2
}

address_that_goes()
{
	check ip -n "$ns1" addr del 10.77.0.1/24 dev "$dev1"
	check poll_until 5 no_gid "$link1" "$(gid_of 10.77.0.1)"
	ipv4
}

ipv6_disabled_works_on_ipv4()
{
	local ns3 ns4 dev3 dev4 link3 link4 gid3 gid4 ns

	check setup_ns ns3 ns4 || return
	if have_ipv6; then
		for ns in "$ns3" "$ns4"; do
			check in_ns "$ns" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1 \
				net.ipv6.conf.default.disable_ipv6=1
		done
	fi
	check setup_veth dev3 "$ns3" dev4 "$ns4" || return
	check up "$ns3" "$dev3" 10.5.0.1/24 && check up "$ns4" "$dev4" 10.5.0.2/24 || return
	check setup_link link3 "$ns3" "$dev3" && check setup_link link4 "$ns4" "$dev4" || return
	check find_gid gid3 "$link3" 10.5.0.1 && check find_gid gid4 "$link4" 10.5.0.2 || return
	check_active "$link3" && check_active "$link4"
	check pingpong rc "$ns3" "$link3" "$gid3" "$ns4" "$link4" "$gid4" 10.5.0.1 -n 20 -c
	check ping "$ns3" 10.5.0.1 "$ns4" -C 5
}

begin
run_tests \
	ipv4 \
	ipv6_global \
	ipv6_link_local \
	rping_ipv4 \
	rping_ipv6 \
	rping_ipv6_link_local \
	ud_over_ipv6 \
	same_link_local_on_two_links \
	address_that_comes_later \
	address_that_goes \
	ipv6_disabled_works_on_ipv4
