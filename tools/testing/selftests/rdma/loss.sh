#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netem loses, reorders, duplicates and corrupts packets both ways: everything
# arrives, once, as it was sent.  And with nothing arriving at all, everything
# can still be taken away.

. "$(dirname "$0")/lib.sh"

setup()
{
	require_netem || return
	check setup_pair 1500 && fixed_neighbours
}

# netem OPTIONS...: on both ends
netem()
{
	have_pair || return
	check tc -n "$ns1" qdisc replace dev "$dev1" root netem limit 10000 "$@" || return
	check tc -n "$ns2" qdisc replace dev "$dev2" root netem limit 10000 "$@"
}

have_pair()
{
	[ -n "${link2-}" ] || { skip "no netem"; return 1; }
}

no_netem()
{
	check tc -n "$ns1" qdisc del dev "$dev1" root
	check tc -n "$ns2" qdisc del dev "$dev2" root
}

# with OPTIONS...: traffic of all kinds. Not rping and ibv_rc_pingpong: they have no
# end that survives the loss of their last message or its acknowledgement.
with()
{
	netem "$@" || return
	verbs mixed 640
	no_netem
}

# what was lost was sent again, and counted
retransmissions_are_counted()
{
	have_pair || return
	netem loss 5% || return
	verbs mixed 320
	check counter_above "$link1" completer_retry_err 0
	check counter_above "$link1" out_of_seq_request 0
	no_netem
}

perftest_completes()
{
	netem loss 1% || return
	check perf ib_send_bw "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 200 -s 65536
	check perf ib_read_bw "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 100 -s 65536
	no_netem
}

# start_unanswered: a process whose QPs wait for answers that do not come
start_unanswered()
{
	local out=$tmp/unanswered.$((out_nr += 1))

	helper verbs || return
	start '' "$out" 60 "$here/verbs" unanswered "$link1" "$gid1" "$link2" "$gid2"
	check poll_until 10 file_has "$out" ready
}

kill_process_without_answers()
{
	netem loss 100% || return
	start_unanswered || return
	check takes_less "$prompt" stop "$started"
	no_netem
	# nothing fires later
	check ping "$ns1" "$ip1" "$ns2" -C 5
}

link_del_without_answers()
{
	netem loss 100% || return
	start_unanswered || return
	check takes_less "$prompt" link_del "$link1"
	check takes_less "$prompt" link_del "$link2"
	check_closed_everywhere
	stop "$started"
	no_netem
}

begin
run_tests \
	"with loss 1%" \
	"with delay 1ms reorder 75% 50%" \
	"with duplicate 5%" \
	"with corrupt 1%" \
	"with loss 3% delay 2ms 1ms duplicate 1%" \
	retransmissions_are_counted \
	perftest_completes \
	kill_process_without_answers \
	link_del_without_answers
