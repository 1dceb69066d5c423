#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shared receive queues: several QPs on one, limit and last-WQE events, resizing
# under load, a process that overwrites the ring; and ibv_srq_pingpong.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

srq_pingpong()
{
	command -v ibv_srq_pingpong >/dev/null || { skip "no ibv_srq_pingpong"; return; }
	check pingpong srq "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "$@"
}

begin
run_tests \
	"verbs srq" \
	"verbs srq 1" \
	"own_address srq" \
	"verbs srq_rnr" \
	"verbs srq_limit" \
	"verbs srq_last_wqe" \
	"verbs srq_error_in_message" \
	"verbs srq_cq_full" \
	"verbs srq_ud" \
	"verbs srq_resize" "verbs srq_resize_full" \
	"verbs srq_errors" \
	"verbs srq_hostile" \
	"srq_pingpong -n 200" \
	"srq_pingpong -n 200 -e -q 16"
