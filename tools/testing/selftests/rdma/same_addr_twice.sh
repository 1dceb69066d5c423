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

# is_ready NAMESPACE LINK: the server of start_both
is_ready()
{
	case $kind in
	pingpong) tcp_listens "$1" 7400 ;;
	rping) [[ $(rdma resource show cm_id) =~ "link $2/1 "[^$'\n']*"state LISTEN" ]] ;;
	esac
}

# both_at_once pingpong|rping
both_at_once()
{
	local kind=$1 pair ns1 ns2 link1 link2 i=0 pid servers=() clients=()
	local rping=(rping -a 10.44.0.1 -p 7400 -V -C 60 -S 8000)
	local pingpong=(ibv_rc_pingpong -p 7400 -c -n 200 -s 8000)

	for pair in a b; do
		ns1=${pair}_ns1 link1=${pair}_link1
		case $kind in
		pingpong) set -- "${pingpong[@]}" -d "${!link1}" -g "${gids[0]}" ;;
		rping) set -- "${rping[@]}" -s ;;
		esac
		start "${!ns1}" "$tmp/server.$kind.$pair" 60 "$@"
		servers+=("$started")
	done
	for pair in a b; do
		ns1=${pair}_ns1 link1=${pair}_link1
		check poll_until 15 is_ready "${!ns1}" "${!link1}" || return
	done
	for pair in a b; do
		ns2=${pair}_ns2 link2=${pair}_link2
		case $kind in
		pingpong) set -- "${pingpong[@]}" -d "${!link2}" -g "${gids[1]}" 10.44.0.1 ;;
		rping) set -- "${rping[@]}" -c ;;
		esac
		start "${!ns2}" "$tmp/client.$kind.$pair" 60 "$@"
		clients+=("$started")
	done
	for pid in "${clients[@]}" "${servers[@]}"; do
		check ends "$pid" 60 || i=1
	done
	[ "$i" -eq 0 ] || diag "$(tail -n 5 "$tmp"/*."$kind".*)"
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

# Not before this one: rdma_cm finds its connections to a neighbour by interface
# index and address alone. To it, the two pairs are one with a neighbour that
# changes its MAC address, and such a connection is "unreachable".
same_mac_addresses()
{
	local mac pair ns dev gid

	for pair in 1 2; do
		ns=a_ns$pair dev=a_dev$pair
		mac=$(ip -n "${!ns}" -o link show "${!dev}" |
			sed -n 's/.*link\/ether \([0-9a-f:]*\) .*/\1/p')
		ns=b_ns$pair dev=b_dev$pair
		check ip -n "${!ns}" link set "${!dev}" address "$mac"
	done
	check ip -n "$b_ns1" neigh flush all
	check ip -n "$b_ns2" neigh flush all
	find_gid gid "$b_link1" 10.44.0.1
	find_gid gid "$b_link2" 10.44.0.2
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
	"both_at_once pingpong" \
	foreign_qp_number_is_not_reached \
	same_mac_addresses \
	"both_at_once rping" \
	deletion_of_one_pair_leaves_the_other
