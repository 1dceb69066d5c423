#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an administrator does, in random order, to links that have traffic, while
# another pair of links works on undisturbed.
#
# Environment:
#   RDMA_TEST_ROUNDS=N  that many rounds (30; 500 take an hour, see settings for the
#                       time-out of the runner)
#   RDMA_TEST_SEED=N    the same order again

. "$(dirname "$0")/lib.sh"

rounds=${RDMA_TEST_ROUNDS:-30}
seed=${RDMA_TEST_SEED:-$((SRANDOM % 32768))}

setup()
{
	helper verbs || return
	diag "RDMA_TEST_SEED=$seed RDMA_TEST_ROUNDS=$rounds"
	# the pair that nobody touches
	check setup_pair 1500 || return
	steady=("$link1" "$gid1" "$link2" "$gid2")
	steady_ns1=$ns1 steady_dev1=$dev1 steady_ip1=$ip1
	steady_ns2=$ns2 steady_dev2=$dev2 steady_ip2=$ip2
	start_steady
	check setup_pair 1500 || return
	start_stream
}

start_steady()
{
	start '' "$tmp/steady" 7200 "$here/verbs" stream "${steady[@]}" 7100
	steady_pid=$started
	check poll_until 20 file_has "$tmp/steady" ready || diag_file "$tmp/steady"
}

steady_flows()
{
	local n

	check_not ended "$steady_pid" || { diag_file "$tmp/steady"; return 1; }
	n=$(counter "${steady[0]}" sent_pkts)
	check poll_until 10 counter_above "${steady[0]}" sent_pkts $((n + 20))
}

# traffic on the pair that suffers; it ends in whatever way
start_stream()
{
	start '' "$tmp/stream" 7200 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2"
	stream=$started
	check poll_until 20 file_has "$tmp/stream" ready || { diag_file "$tmp/stream"; return 1; }
}

# The process has seen an error, or is still at work.
stop_stream()
{
	if ! ended "$stream"; then
		stop "$stream"
	elif ! wait "$stream"; then
		fail "the stream has failed"
		diag_file "$tmp/stream"
	fi
}

#
# The acts.  Each leaves link1 and link2 on dev1 and dev2 with addresses.
#

link_del_and_add()
{
	check link_del "$link1"
	check setup_link link1 "$ns1" "$dev1"
}

link_is_renamed()
{
	local new i

	new=$(random_name rxe)
	check rdma dev set "$link1" name "$new" || return
	for i in "${!links[@]}"; do
		[ "${links[i]}" != "$link1" ] || links[i]=$new
	done
	unset "link_ns[$link1]"
	link_ns[$new]=$ns1 link1=$new
}

netdev_down_and_up()
{
	local i

	for i in 1 2 3; do
		check ip -n "$ns1" link set "$dev1" down
		check ip -n "$ns1" link set "$dev1" up
	done
	# IPv6 addresses go with the netdev
	check up "$ns1" "$dev1" "$ip6_1/64"
}

mtu_changes()
{
	local mtu

	for mtu in 700 4200 68 9000 1500; do
		check ip -n "$ns1" link set "$dev1" mtu "$mtu"
		check ip -n "$ns2" link set "$dev2" mtu "$mtu"
	done
	# 68 has ended IPv6
	! have_ipv6 || check ip -n "$ns1" addr replace "$ip6_1/64" dev "$dev1" nodad
	! have_ipv6 || check ip -n "$ns2" addr replace "$ip6_2/64" dev "$dev2" nodad
}

addresses_go_and_come()
{
	local i

	for i in 1 2 3; do
		check ip -n "$ns1" addr flush dev "$dev1"
		check up "$ns1" "$dev1" "$ip1/24" "$ip6_1/64"
	done
}

netdev_is_renamed()
{
	local new

	new=$(random_name v)
	check ip -n "$ns1" link set "$dev1" down
	check ip -n "$ns1" link set "$dev1" name "$new"
	dev1=$new
	check up "$ns1" "$dev1" "$ip6_1/64"
}

netdev_moves_away_and_back()
{
	local ns3

	check setup_ns ns3 || return
	check ip -n "$ns1" link set "$dev1" netns "$ns3"
	check poll_until 10 link_gone "$link1"
	check up "$ns3" "$dev1" "$ip1/24"
	check setup_link link1 "$ns3" "$dev1"
	check ip -n "$ns3" link set "$dev1" netns "$ns1"
	check poll_until 10 link_gone "$link1"
	check up "$ns1" "$dev1" "$ip1/24" "$ip6_1/64"
	check setup_link link1 "$ns1" "$dev1"
	check delete_ns "$ns3"
}

netdev_is_deleted()
{
	check ip -n "$ns1" link del "$dev1"
	check poll_until 10 link_gone "$link1"
	check poll_until 10 link_gone "$link2"
	new_wire
}

new_wire()
{
	check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check up "$ns1" "$dev1" "$ip1/24" "$ip6_1/64" && check up "$ns2" "$dev2" "$ip2/24" "$ip6_2/64"
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2"
}

namespace_dies()
{
	check delete_ns "$ns1"
	check poll_until 20 link_gone "$link1"
	check poll_until 20 link_gone "$link2"
	check setup_ns ns1 && new_wire
}

module_unloads_and_loads()
{
	check takes_less 10000 unload_module || return
	check module_is_gone
	check load_module || return
	wait "$steady_pid"
	stop_stream
	check setup_link "steady[0]" "$steady_ns1" "$steady_dev1" || return
	check setup_link "steady[2]" "$steady_ns2" "$steady_dev2" || return
	check find_gid "steady[1]" "${steady[0]}" "$steady_ip1" || return
	check find_gid "steady[3]" "${steady[2]}" "$steady_ip2" || return
	start_steady
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2"
}

acts=(link_del_and_add link_is_renamed netdev_down_and_up mtu_changes addresses_go_and_come
	netdev_is_renamed netdev_moves_away_and_back netdev_is_deleted namespace_dies
	module_unloads_and_loads)

# shuffle: the acts, each once
shuffle()
{
	local i j swap

	for ((i = ${#acts[@]} - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		swap=${acts[i]} acts[i]=${acts[j]} acts[j]=$swap
	done
}

loops()
{
	local i act

	[ -n "${stream-}" ] || { skip "verbs is not built"; return; }
	RANDOM=$seed
	for ((i = 0; i < rounds; i++)); do
		[ $((i % ${#acts[@]})) -ne 0 ] || shuffle
		act=${acts[i % ${#acts[@]}]}
		$act
		stop_stream
		exchange "$ns1" "$link1" "$ip1" "$ns2" "$link2" "$ip2"
		steady_flows
		check find_gid gid1 "$link1" "$ip1" && check find_gid gid2 "$link2" "$ip2" &&
			start_stream
		[ -z "$failed" ] || {
			diag "round $((i + 1)): $act"
			return
		}
	done
	diag "$rounds rounds"
}

begin
run_tests loops
