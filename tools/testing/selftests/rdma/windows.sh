#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory windows of type 1 and 2B, invalidation by the owner and by the peer,
# and MRs that change.  See verbs_window.c and verbs_rereg.c.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

begin
run_tests \
	"lone bad_window" \
	"verbs window1" \
	"verbs window2" \
	"verbs bind_rules" \
	"verbs bound_mr" \
	"verbs window_owner" \
	"verbs send_inv 100" \
	"verbs send_inv 20000" \
	"verbs bind_order" \
	"verbs inv_under_load" \
	"verbs rereg" \
	"verbs rereg_busy" \
	"verbs taken rereg" \
	"verbs taken dereg"
