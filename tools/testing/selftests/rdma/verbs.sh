#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Verbs between two devices, in one process: data compared byte by byte, errors
# that have to come, QP states.  See verbs.c.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

# Two packets in a burst, most times, where each message is answered.
answers_carry_acks()
{
	local bursts pkts

	bursts=$(counter "$link1" tx_bursts) pkts=$(counter "$link1" sent_pkts)
	verbs answers
	bursts=$(($(counter "$link1" tx_bursts) - bursts))
	pkts=$(($(counter "$link1" sent_pkts) - pkts))
	diag "$pkts packets in $bursts bursts"
	check test "$((bursts * 4))" -lt "$((pkts * 3))"
}

# bursts_of_many: sets $bursts, how many of them 4000 messages took
bursts_of_many()
{
	local before

	before=$(counter "$link1" tx_bursts)
	verbs many_single_posts || return
	bursts=$(($(counter "$link1" tx_bursts) - before))
}

# Those that are posted one after the other go together, unless that is switched off. A
# process that others keep from posting in time is not a stream, so some tries are allowed.
single_posts_go_in_bursts()
{
	local switch=/sys/module/rdma_rxe/parameters/autocork single bursts=0 try

	helper verbs || return
	check test -w "$switch" || return
	[ "$slow" -eq 1 ] || { skip "no CPU here keeps up with a stream"; return; }
	echo N >"$switch"
	bursts_of_many
	single=$bursts
	echo Y >"$switch"
	for try in $(seq 40); do
		bursts_of_many || return
		[ $((bursts * 3)) -ge $((single * 2)) ] || break
	done
	diag "$single bursts, and $bursts at try $try"
	check test $((bursts * 3)) -lt $((single * 2))
}

# too_large LIMIT: so often has the kernel's log said it
too_large()
{
	dmesg | grep -c "QP [0-9]*: path MTU [0-9]* is too large, the route carries $1;"
}

# path_mtu FROM TO: addresses. The netdev carries 4096 bytes, routes carry less.
path_mtu()
{
	local route=$2 index1 index2 said mtu

	helper verbs || return
	check find_gid index1 "$link1" "$1" && check find_gid index2 "$link2" "$2" || return
	set -- "$here/verbs" path_mtu "$link1" "$index1" "$link2" "$index2"
	check "$@" 4096
	for mtu in 2500:2048 1500:1024 1280:1024; do
		check ip -n "$ns1" route replace "$route" dev "$dev1" mtu "${mtu%:*}" || return
		said=$(too_large "${mtu#*:}")
		check "$@" "${mtu#*:}"
		dmesg >/dev/null 2>&1 || continue
		check test "$(too_large "${mtu#*:}")" -gt "$said"
	done
	check ip -n "$ns1" route del "$route" dev "$dev1"
	check "$@" 4096
}

path_mtu_ipv4()
{
	path_mtu "$ip1" "$ip2"
}

path_mtu_ipv6()
{
	path_mtu "$ip6_1" "$ip6_2"
}

begin
run_tests \
	"verbs sizes 4096" \
	"verbs sizes 256" \
	"own_address sizes" \
	"verbs large" \
	"verbs long_message ${RDMA_TEST_MIB:-32}" \
	"verbs mixed 256" \
	"verbs inline" \
	"verbs sge_list" \
	"verbs inline_setters" \
	"verbs inline_wrap" \
	"verbs next_poll" \
	"verbs psn_wrap" \
	"verbs many_reads" \
	"verbs single_posts 64" \
	"verbs single_posts 20000" \
	"verbs single_posts_end" \
	single_posts_go_in_bursts \
	"verbs fence" \
	"verbs unsignaled" \
	"verbs events" \
	answers_carry_acks \
	"verbs solicited" \
	"verbs ud" \
	"own_address ud" \
	"verbs remote_access" \
	"verbs qp_access" \
	"verbs short_receive" \
	"verbs local_protection" \
	"verbs no_reads" \
	"verbs wrong_operation" \
	"verbs sqe" \
	"verbs too_long" \
	"verbs deregistered" \
	"verbs rnr_exceeded" \
	"verbs rnr_recovers" \
	"verbs peer_gone" \
	"verbs flush" \
	"verbs error_in_message" \
	"verbs cq_overflow" \
	"lone limits" \
	"lone bad_mr" \
	"verbs wrong_input" \
	path_mtu_ipv4 \
	path_mtu_ipv6 \
	"verbs sqd" \
	"verbs transitions" \
	"verbs reset" \
	"verbs query" \
	"verbs many 50" \
	"verbs destroy_busy"
