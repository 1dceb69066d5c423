#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module goes, again and again, with links and with processes that have
# their devices open.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_ns ns1 ns2 || return
	check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check up "$ns1" "$dev1" 10.8.0.1/24 && check up "$ns2" "$dev2" 10.8.0.2/24
}

two_links()
{
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2" || return
	check find_gid gid1 "$link1" 10.8.0.1 && check find_gid gid2 "$link2" 10.8.0.2
}

unload_and_load()
{
	check takes_less "$prompt" unload_module
	check module_is_gone
	check_closed_everywhere
	check link_gone "$link1"
	check link_gone "$link2"
	check load_module
	check_closed_everywhere
}

without_links()
{
	check takes_less "$prompt" unload_module
	check module_is_gone
	check load_module
}

with_links()
{
	local i

	for i in 1 2 3 4 5; do
		two_links || return
		unload_and_load
		[ -z "$failed" ] || return
	done
}

# hold_and_unload HOW: a process has the device open, and lives on
hold_and_unload()
{
	local out=$tmp/hold.$((out_nr += 1))

	helper verbs || return
	two_links || return
	start "$ns1" "$out" 60 "$here/verbs" hold "$link1" "$gid1" ${1:+"$1"}
	check poll_until 10 file_has "$out" ready || return
	unload_and_load
	if [ "${1-}" = sleep ]; then
		check_not ended "$started"
		check takes_less "$prompt" stop "$started"
	else
		check ends "$started" 10 || diag_file "$out"
		check file_has "$out" "gone: EIO"
	fi
}

next_verb_of_an_open_process_says_EIO()
{
	hold_and_unload ''
}

process_that_just_exits()
{
	hold_and_unload exit
}

process_that_is_killed()
{
	hold_and_unload sleep
}

with_a_listening_rdma_cm()
{
	two_links || return
	start "$ns1" "$tmp/listen" 60 rping -s -a 10.8.0.1 -p 7600
	check poll_until 10 cm_listens "$ns1" 7600
	unload_and_load
	check takes_less "$prompt" stop "$started"
}

works_after_all_that()
{
	two_links || return
	check_active "$link1"
	check_active "$link2"
	check ping "$ns1" 10.8.0.1 "$ns2" -C 5
	check link_del "$link1"
	check link_del "$link2"
}

begin
run_tests \
	without_links \
	with_links \
	next_verb_of_an_open_process_says_EIO \
	process_that_just_exits \
	process_that_is_killed \
	with_a_listening_rdma_cm \
	works_after_all_that
