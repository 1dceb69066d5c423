#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two pairs of namespaces with the same addresses (and MAC addresses): neither
# sees the other's packets.

. "$(dirname "$0")/lib.sh"

setup()
{
	local pair

	for pair in a b; do
		check setup_pair 1500 10.44.0 || return
		printf -v "${pair}_ns1" %s "$ns1"
		printf -v "${pair}_ns2" %s "$ns2"
		printf -v "${pair}_link1" %s "$link1"
		printf -v "${pair}_link2" %s "$link2"
		printf -v "${pair}_dev1" %s "$dev1"
		printf -v "${pair}_dev2" %s "$dev2"
	done
	gids=("$gid1" "$gid2")
}

one_pair_does_not_touch_the_other()
{
	local before after

	before="$(counter "$b_link1" rcvd_pkts) $(counter "$b_link2" rcvd_pkts)"
	check ping "$a_ns1" 10.44.0.1 "$a_ns2" -C 10
	check pingpong rc "$a_ns1" "$a_link1" "${gids[0]}" "$a_ns2" "$a_link2" "${gids[1]}" \
		10.44.0.1 -n 50 -c
	after="$(counter "$b_link1" rcvd_pkts) $(counter "$b_link2" rcvd_pkts)"
	equal "$before" "$after" "packets that the idle pair has received"
	check counter_above "$a_link1" rcvd_pkts 50
}

listens_on()
{
	[[ $(rdma resource show cm_id) =~ "link $1/1 "[^$'\n']*"state LISTEN" ]]
}

both_at_once()
{
	local pair ns1 ns2 link1 pid server_pids=() client_pids=()

	for pair in a b; do
		ns1=${pair}_ns1
		start "${!ns1}" "$tmp/server.$pair" 60 rping -s -a 10.44.0.1 -p 7400 -V -C 60 -S 8000
		server_pids+=("$started")
	done
	for pair in a b; do
		ns1=${pair}_ns1
		link1=${pair}_link1
		check poll_until 10 listens_on "${!link1}" || return
	done
	for pair in a b; do
		ns2=${pair}_ns2
		start "${!ns2}" "$tmp/client.$pair" 60 rping -c -a 10.44.0.1 -p 7400 -V -C 60 -S 8000
		client_pids+=("$started")
	done
	for pid in "${client_pids[@]}" "${server_pids[@]}"; do
		check ends "$pid" 60 || diag_file "$tmp/client.a"
	done
}

# A QP's packets are for nobody in a namespace that has the same address: even
# when the packet for the number of one pair's QP comes in the other pair.
foreign_qp_number_is_not_reached()
{
	local out=$tmp/listen qpn dropped

	helper verbs && helper packets || return
	start "$a_ns1" "$out" 60 "$here/verbs" listen "$a_link1" "${gids[0]}"
	check poll_until 10 file_has "$out" ready || return
	qpn=$(sed -n 's/^ready //p' "$out")
	dropped=$(($(drops "$a_link1") + $(drops "$b_link1")))
	check in_ns "$b_ns2" "$here/packets" valid 10.44.0.2 10.44.0.1 "$qpn"
	check poll_until 5 drops_of_both $((dropped + 1))
	check_not file_has "$out" "32 bytes"
	check in_ns "$a_ns2" "$here/packets" valid 10.44.0.2 10.44.0.1 "$qpn"
	check poll_until 5 file_has "$out" "32 bytes"
	stop "$started"
}

# counted where the packet came in, or where the QP is
drops_of_both()
{
	[ $(($(drops "$a_link1") + $(drops "$b_link1"))) -ge "$1" ]
}

same_mac_addresses_too()
{
	local mac pair ns dev

	for pair in 1 2; do
		ns=a_ns$pair dev=a_dev$pair
		mac=$(ip -n "${!ns}" -o link show "${!dev}" |
			sed -n 's/.*link\/ether \([0-9a-f:]*\) .*/\1/p')
		ns=b_ns$pair dev=b_dev$pair
		check ip -n "${!ns}" link set "${!dev}" address "$mac"
	done
	check ip -n "$b_ns1" neigh flush all
	check ip -n "$b_ns2" neigh flush all
	both_at_once
}

deletion_of_one_pair_leaves_the_other()
{
	check link_del "$a_link1"
	check link_del "$a_link2"
	check_open_only_in "$b_ns1" "$b_ns2"
	check ping "$b_ns1" 10.44.0.1 "$b_ns2" -C 10
}

begin
run_tests \
	one_pair_does_not_touch_the_other \
	both_at_once \
	foreign_qp_number_is_not_reached \
	same_mac_addresses_too \
	deletion_of_one_pair_leaves_the_other
