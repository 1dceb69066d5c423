#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `rdma link add` with wrong input fails and leaves nothing behind; with a
# netdev that is not ready it gives a link that comes up by itself.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_ns ns1 ns2 || return
	check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check up "$ns1" "$dev1" 10.3.1.1/24 && check up "$ns2" "$dev2" 10.3.1.2/24 || return
	check up "$ns1" "$dev3" && check up "$ns2" "$dev4"
}

# nothing_left LINK: no device, no port, and the same add works
nothing_left()
{
	check link_gone "$1"
	check_closed_everywhere
	check link_add "$ns1" "$1" "$dev1"
	check_open_only_in "$ns1"
	check link_del "$1"
	check_closed_everywhere
}

no_such_netdev()
{
	local link

	link=$(random_name rxe)
	check_not link_add "$ns1" "$link" nosuchdev0
	nothing_left "$link"
}

netdev_of_another_namespace()
{
	local link

	link=$(random_name rxe)
	check_not link_add "$ns1" "$link" "$dev2"
	nothing_left "$link"
}

name_in_use()
{
	local link

	check setup_link link "$ns1" "$dev1" || return
	check_not link_add "$ns1" "$link" "$dev3"
	check_not in_ns "$ns1" rdma link add "$link" type rxe netdev "$dev3"
	check_open_only_in "$ns1"
	check link_exists "$link"
	# nothing is left of it on that netdev
	check setup_link other "$ns1" "$dev3"
	check link_del "$other"
	check link_del "$link"
	check_closed_everywhere
}

# names are unique in the whole system, or those of a namespace are its own
name_in_use_in_another_namespace()
{
	local link

	check setup_link link "$ns1" "$dev1" || return
	if in_ns "$ns2" rdma link add "$link" type rxe netdev "$dev2" 2>/dev/null; then
		check_open_only_in "$ns1" "$ns2"
		check in_ns "$ns2" rdma link del "$link"
	fi
	check_open_only_in "$ns1"
	check link_del "$link"
	check_closed_everywhere
}

netdev_has_a_link_already()
{
	local link other

	check setup_link link "$ns1" "$dev1" || return
	other=$(random_name rxe)
	check_not link_add "$ns1" "$other" "$dev1"
	check link_gone "$other"
	check_open_only_in "$ns1"
	check has_state "$link" ACTIVE
	check link_del "$link"
	nothing_left "$other"
}

loopback_netdev()
{
	local link

	# allowed or not, it must not break anything
	link=$(random_name rxe)
	if link_add "$ns1" "$link" lo 2>/dev/null; then
		check_open_only_in "$ns1"
		check link_del "$link"
	fi
	nothing_left "$link"
}

log_has()
{
	log_since_start | grep -q -E -e "$1"
}

port_is_taken()
{
	local link inode

	helper packets || return
	link=$(random_name rxe)
	start "$ns1" "$tmp/bind" 60 "$here/packets" bind 4791
	check poll_until 10 file_has "$tmp/bind" ready || return
	check_not link_add "$ns1" "$link" "$dev1"
	check link_gone "$link"
	if dmesg >/dev/null 2>&1; then
		# one line names namespace (by inode number) and port
		inode=$(stat -L -c %i "/run/netns/$ns1")
		check soon log_has "$inode.*4791|4791.*$inode" ||
			diag "$(log_since_start | grep -i -e rxe -e 4791 | tail -n 5)"
	fi
	# it is free elsewhere
	check setup_link link2 "$ns2" "$dev2" && check link_del "$link2"
	stop "$started"
	nothing_left "$link"
}

netdev_that_is_down()
{
	local link

	check ip -n "$ns1" link set "$dev1" down
	check setup_link link "$ns1" "$dev1" || return
	check_open_only_in "$ns1"
	check_state "$link" DOWN
	check up "$ns1" "$dev1"
	check_state "$link" ACTIVE
	check ip -n "$ns1" link set "$dev1" down
	check_state "$link" DOWN
	check up "$ns1" "$dev1"
	check_state "$link" ACTIVE
	check link_del "$link"
}

netdev_without_carrier()
{
	local link

	check ip -n "$ns2" link set "$dev2" down
	check setup_link link "$ns1" "$dev1" || return
	check_state "$link" DOWN
	check up "$ns2" "$dev2"
	check_state "$link" ACTIVE
	check ip -n "$ns2" link set "$dev2" down
	check_state "$link" DOWN
	check up "$ns2" "$dev2"
	check_state "$link" ACTIVE
	check link_del "$link"
}

netdev_without_address()
{
	local link gid

	# no IPv6 link-local address either
	! have_ipv6 || check in_ns "$ns1" sysctl -q -w "net.ipv6.conf.$dev3.disable_ipv6=1"
	check setup_link link "$ns1" "$dev3" || return
	check_open_only_in "$ns1"
	check_state "$link" DOWN
	check up "$ns1" "$dev3" 10.3.3.1/24
	check_state "$link" ACTIVE
	check find_gid gid "$link" 10.3.3.1
	check ip -n "$ns1" addr del 10.3.3.1/24 dev "$dev3"
	check_state "$link" DOWN
	check link_del "$link"
}

many_links_in_one_namespace()
{
	local _ dev link links_here=()

	for _ in 1 2 3 4; do
		check setup_dummy dev "$ns1" && check up "$ns1" "$dev" || return
		check setup_link link "$ns1" "$dev" || return
		links_here+=("$link")
	done
	check_open_only_in "$ns1"
	for link in "${links_here[@]}"; do
		check link_del "$link"
	done
	check_closed_everywhere
}

begin
run_tests \
	no_such_netdev \
	netdev_of_another_namespace \
	name_in_use \
	name_in_use_in_another_namespace \
	netdev_has_a_link_already \
	loopback_netdev \
	port_is_taken \
	netdev_that_is_down \
	netdev_without_carrier \
	netdev_without_address \
	many_links_in_one_namespace
