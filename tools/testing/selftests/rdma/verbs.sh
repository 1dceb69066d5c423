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

begin
run_tests \
	"verbs sizes 4096" \
	"verbs sizes 256" \
	"own_address sizes" \
	"verbs large" \
	"verbs mixed 256" \
	"verbs inline" \
	"verbs psn_wrap" \
	"verbs many_reads" \
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
	"verbs sqd" \
	"verbs transitions" \
	"verbs reset" \
	"verbs query" \
	"verbs many 50" \
	"verbs destroy_busy"
