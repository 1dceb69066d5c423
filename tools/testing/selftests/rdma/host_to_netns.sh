#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The initial namespace and another one, joined by a veth pair.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_ns ns || return
	check setup_veth host_dev '' dev "$ns" || return
	host_ip=10.231.17.1 ip=10.231.17.2
	check up '' "$host_dev" "$host_ip/24" || return
	check up "$ns" "$dev" "$ip/24" || return
	check setup_link host_link '' "$host_dev" || return
	check_port '' open
	check setup_link link "$ns" "$dev" || return
	check_port "$ns" open
	find_gid host_gid "$host_link" "$host_ip"
	find_gid gid "$link" "$ip"
	check_active "$host_link"
	check_active "$link"
}

rc_pingpong_from_the_namespace()
{
	check pingpong rc '' "$host_link" "$host_gid" "$ns" "$link" "$gid" "$host_ip" -n 100 -c
}

rc_pingpong_from_the_host()
{
	check pingpong rc "$ns" "$link" "$gid" '' "$host_link" "$host_gid" "$ip" -n 100 -c
}

ud_pingpong()
{
	check pingpong ud '' "$host_link" "$host_gid" "$ns" "$link" "$gid" "$host_ip" -n 100 -c
}

rping_from_the_namespace()
{
	check ping '' "$host_ip" "$ns" -C 20
}

rping_from_the_host()
{
	check ping "$ns" "$ip" '' -C 20 -S 20000
}

link_del_closes_the_port_on_its_side_only()
{
	check link_del "$host_link"
	check_port '' closed
	check_port "$ns" open
}

begin
run_tests \
	rc_pingpong_from_the_namespace \
	rc_pingpong_from_the_host \
	ud_pingpong \
	rping_from_the_namespace \
	rping_from_the_host \
	link_del_closes_the_port_on_its_side_only
