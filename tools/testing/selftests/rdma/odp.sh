#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On-demand paging: MRs whose memory is not pinned.  See verbs_odp.c.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

lone()
{
	helper verbs || return
	"$here/verbs" list | grep -qx "$1" || {
		skip "verbs was built without it"
		return
	}
	check timeout $((60 * slow)) "$here/verbs" "$1" "$link1" "$gid1"
}

pingpong_odp()
{
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 200 -s 65536 -o
}

begin
run_tests \
	"verbs odp sizes" \
	"verbs odp large" \
	"verbs odp mixed" \
	"verbs odp ud" \
	"verbs odp_discard" \
	"verbs odp_race" \
	"verbs odp_race_data" \
	"verbs odp_fork" \
	"verbs odp_fork_busy" \
	"verbs odp_unmapped" \
	"verbs odp_file" \
	"lone odp_implicit" \
	"lone odp_prefetch" \
	"lone odp_prefetch_race" \
	"verbs taken munmap" \
	pingpong_odp
