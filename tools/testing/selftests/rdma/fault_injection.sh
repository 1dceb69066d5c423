#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each allocation and copy from or to user space in link add, create_qp and the like
# fails once (failslab, fail_page_alloc, fail_usercopy; CONFIG_FAULT_INJECTION). Nothing crashes, nothing is left behind,
# and the next try works. What is leaked shows at the end of a run on a kernel with
# kmemleak.

. "$(dirname "$0")/lib.sh"

faults=/sys/kernel/debug

# no stacks in the log, and every allocation counts
arm()
{
	local dir

	for dir in $faults/failslab $faults/fail_page_alloc $faults/fail_usercopy; do
		[ ! -e $dir/verbose ] || echo 0 >$dir/verbose
		[ ! -e $dir/ignore-gfp-wait ] || echo N >$dir/ignore-gfp-wait
	done
	echo N >$faults/fail_page_alloc/ignore-gfp-highmem
	echo 0 >$faults/fail_page_alloc/min-order
}

setup()
{
	check setup_pair 4500 || return
	check arm
}

verbs()
{
	helper verbs || return
	check timeout $((120 * slow)) "$here/verbs" "$1" "$link1" "$gid1" "$link2" "$gid2"
	diag "$(tail -n 20 "$tmp/check.$out_nr")"
}

link_add_fails_everywhere()
{
	helper fail_link || return
	setup_ns ns3 && setup_dummy dev3 "$ns3" && up "$ns3" "$dev3" 10.99.0.1/24 fd99::1/64 || return
	check timeout $((200 * slow)) ip netns exec "$ns3" "$here/fail_link" "$dev3" "$(random_name rxe)"
	diag "$(tail -n 20 "$tmp/check.$out_nr")"
	check setup_link link3 "$ns3" "$dev3"
}

[ -d $faults/failslab ] && [ -d $faults/fail_page_alloc ] && [ -e /proc/self/fail-nth ] ||
	skip_all "the kernel has no fault injection (failslab and fail_page_alloc in debugfs)"
begin
run_tests \
	"verbs fail_create" \
	"verbs fail_send" \
	link_add_fails_everywhere
