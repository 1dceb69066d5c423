#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Three namespaces on a bridge, which is in a fourth one: each with each.

. "$(dirname "$0")/lib.sh"

setup()
{
	local i

	check setup_ns hub ns_1 ns_2 ns_3 || return
	check ip -n "$hub" link add br0 type bridge || return
	check up "$hub" br0
	for i in 1 2 3; do
		local -n ns=ns_$i
		check setup_veth "dev_$i" "$ns" port "$hub" || return
		local -n dev=dev_$i
		check ip -n "$hub" link set "$port" master br0 up
		check up "$ns" "$dev" "10.33.0.$i/24" "fd00:33::$i/64" "fe80::33:$i/64" || return
		check setup_link "link_$i" "$ns" "$dev" || return
	done
	for i in 1 2 3; do
		local -n link=link_$i
		find_gid "gid_$i" "$link" "10.33.0.$i"
		check_active "$link"
	done
	check_open_only_in "$ns_1" "$ns_2" "$ns_3"
}

rping_between()
{
	local -n from=ns_$1 to=ns_$2

	check ping "$to" "10.33.0.$2" "$from" -C 5
}

# data_between FROM TO: the IPv6 addresses too, the link-local ones among them
data_between()
{
	local -n from=ns_$1 to=ns_$2 from_link=link_$1 to_link=link_$2
	local net

	for net in 10.33.0. $(! have_ipv6 || echo fd00:33:: fe80::33:); do
		exchange "$from" "$from_link" "$net$1" "$to" "$to_link" "$net$2"
	done
	! have_ipv6 || check ping "$to" "fd00:33::$2" "$from" -C 5
}

# the bridge's own namespace has an address, and a link on the bridge itself
link_on_the_bridge_itself()
{
	check up "$hub" br0 10.33.0.9/24 fd00:33::9/64 fe80::33:9/64
	check setup_link hub_link "$hub" br0 || return
	check find_gid hub_gid "$hub_link" 10.33.0.9
	check_active "$hub_link"
	check ping "$hub" 10.33.0.9 "$ns_1" -C 5
	check ping "$ns_2" 10.33.0.2 "$hub" -C 5
	! have_ipv6 || {
		exchange "$hub" "$hub_link" fd00:33::9 "$ns_1" "$link_1" fd00:33::1
		exchange "$hub" "$hub_link" fe80::33:9 "$ns_2" "$link_2" fe80::33:2
	}
}

all_at_once()
{
	local i j server_pids=() client_pids=() pid

	for i in 1 2 3; do
		local -n ns=ns_$i
		start "$ns" "$tmp/server.$i" 60 rping -s -a "10.33.0.$i" -p $((7300 + i)) -V -C 30
		server_pids+=("$started")
	done
	for i in 1 2 3; do
		local -n ns=ns_$i
		check poll_until 10 cm_listens "$ns" $((7300 + i)) || return
	done
	for i in 1 2 3; do
		j=$((i % 3 + 1))
		local -n ns=ns_$i
		start "$ns" "$tmp/client.$i" 60 rping -c -a "10.33.0.$j" -p $((7300 + j)) -V -C 30
		client_pids+=("$started")
	done
	for pid in "${client_pids[@]}" "${server_pids[@]}"; do
		check ends "$pid" 60
	done
}

begin
run_tests \
	"rping_between 1 2" "rping_between 1 3" \
	"rping_between 2 1" "rping_between 2 3" \
	"rping_between 3 1" "rping_between 3 2" \
	"data_between 1 2" "data_between 2 3" \
	all_at_once \
	link_on_the_bridge_itself
