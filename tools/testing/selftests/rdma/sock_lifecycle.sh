#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# UDP port 4791: open in the namespaces that have a link, as long as they have
# one, and nowhere else.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_ns ns1 ns2 bystander || return
	check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check up "$ns1" "$dev1" 10.1.0.1/24 && check up "$ns2" "$dev2" 10.1.0.2/24
	check up "$ns1" "$dev3" && check up "$ns2" "$dev4"
}

loaded_module_opens_no_port()
{
	check test -e /sys/module/rdma_rxe
	check_closed_everywhere
}

first_link_opens_the_port_in_its_namespace()
{
	check setup_link link1 "$ns1" "$dev1"
	check_open_only_in "$ns1"
}

link_in_another_namespace_opens_it_there_too()
{
	check setup_link link2 "$ns2" "$dev2"
	check_open_only_in "$ns1" "$ns2"
}

further_link_shares_the_port()
{
	check setup_link link3 "$ns1" "$dev3"
	check_open_only_in "$ns1" "$ns2"
}

link_del_leaves_the_port_to_the_other_link()
{
	check link_del "$link1"
	check_open_only_in "$ns1" "$ns2"
}

last_link_del_closes_the_port_at_once()
{
	check link_del "$link3"
	check_open_only_in "$ns2"
	check link_del "$link2"
	check_closed_everywhere
}

link_can_be_added_again()
{
	check setup_link link1 "$ns1" "$dev1"
	check_open_only_in "$ns1"
	check link_del "$link1"
	check_closed_everywhere
}

netdev_deletion_closes_the_port()
{
	check setup_link link3 "$ns1" "$dev3"
	check_open_only_in "$ns1"
	check ip -n "$ns1" link del "$dev3"
	check soon link_gone "$link3"
	check_soon_closed_everywhere
}

netdev_deletion_leaves_the_port_to_the_other_link()
{
	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check setup_link link1 "$ns1" "$dev1"
	check setup_link link3 "$ns1" "$dev3"
	check ip -n "$ns1" link del "$dev3"
	check soon link_gone "$link3"
	check_soon_open_only_in "$ns1"
	check link_del "$link1"
	check_closed_everywhere
}

namespace_deletion_takes_the_link_along()
{
	local ns dev link

	check setup_ns ns || return
	check setup_dummy dev "$ns"
	check up "$ns" "$dev"
	check setup_link link "$ns" "$dev"
	check_open_only_in "$ns"
	check delete_ns "$ns"
	check poll_until 5 link_gone "$link"
	check_soon_closed_everywhere
}

module_unload_closes_the_port()
{
	check setup_link link1 "$ns1" "$dev1"
	check setup_link link2 "$ns2" "$dev2"
	check_open_only_in "$ns1" "$ns2"
	check unload_module
	check_closed_everywhere
	check link_gone "$link1"
	check link_gone "$link2"
}

link_add_loads_the_module()
{
	module_is_gone || { fail "the module is still there"; return; }
	check setup_link link1 "$ns1" "$dev1"
	check_open_only_in "$ns1"
	check link_del "$link1"
}

begin
run_tests \
	loaded_module_opens_no_port \
	first_link_opens_the_port_in_its_namespace \
	link_in_another_namespace_opens_it_there_too \
	further_link_shares_the_port \
	link_del_leaves_the_port_to_the_other_link \
	last_link_del_closes_the_port_at_once \
	link_can_be_added_again \
	netdev_deletion_closes_the_port \
	netdev_deletion_leaves_the_port_to_the_other_link \
	namespace_deletion_takes_the_link_along \
	module_unload_closes_the_port \
	link_add_loads_the_module
