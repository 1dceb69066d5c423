#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# netem loses, reorders, duplicates and corrupts packets both ways: everything
# arrives, once, as it was sent, and what nobody sends again is lost as a whole.
# And with nothing arriving at all, everything can still be taken away.

. "$(dirname "$0")/lib.sh"

setup()
{
	require_netem || return
	check setup_pair 1500 && fixed_neighbours
}

# queue QDISC...: on both ends
queue()
{
	have_pair || return
	check tc -n "$ns1" qdisc replace dev "$dev1" root "$@" || return
	check tc -n "$ns2" qdisc replace dev "$dev2" root "$@"
}

# netem OPTIONS...: on both ends
netem()
{
	queue netem limit 10000 "$@"
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

# gso_max_segs NUMBER: 1 sends packets one by one, so that one of a burst can be lost
gso_max_segs()
{
	check ip -n "$ns1" link set dev "$dev1" gso_max_segs "$1" || return
	check ip -n "$ns2" link set dev "$dev2" gso_max_segs "$1"
}

# mixed MESSAGES OPTIONS...: traffic of all kinds. Not rping and ibv_rc_pingpong: they have
# no end that survives the loss of their last message or its acknowledgement.
mixed()
{
	local messages=$1

	shift
	netem "$@" || return
	verbs mixed "$messages"
	no_netem
}

with()
{
	mixed 640 "$@"
}

# singly MESSAGES OPTIONS...: the same, where no two packets have one fate
singly()
{
	local packets bursts

	have_pair && gso_max_segs 1 || return
	packets=$(counter "$link1" sent_pkts) bursts=$(counter "$link1" tx_bursts)
	mixed "$@"
	gso_max_segs 65535
	packets=$(($(counter "$link1" sent_pkts) - packets))
	equal "$packets" $(($(counter "$link1" tx_bursts) - bursts)) "bursts of $packets packets"
}

# counted NAME COMMAND...: it succeeds, and both links have counted some
counted()
{
	local name=$1 before1 before2

	shift
	before1=$(counter "$link1" "$name") before2=$(counter "$link2" "$name")
	"$@"
	check counter_above "$link1" "$name" "$before1"
	check counter_above "$link2" "$name" "$before2"
}

# drops_locally QDISC...: a queue of a few packets refuses those that follow, and says so
drops_locally()
{
	queue "$@" || return
	counted send_err verbs mixed 160
	no_netem
}

# unreliable UC-OR-UD QDISC...: what arrives is right
unreliable()
{
	local kind=$1

	shift
	queue "$@" || return
	verbs unreliable "$kind"
	gso_max_segs 1 && verbs unreliable "$kind"
	gso_max_segs 65535
	no_netem
}

srq()
{
	netem "$@" || return
	verbs srq
	no_netem
}

# what was lost was sent again, and counted
retransmissions_are_counted()
{
	netem loss 5% || return
	counted completer_retry_err counted out_of_seq_request verbs mixed 320
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
	"with loss 0.1%" \
	"with loss 1%" \
	"mixed 320 loss 5%" \
	"mixed 320 loss gemodel 1% 20% 80% 0.1%" \
	"with delay 1ms reorder 75% 50%" \
	"with duplicate 5%" \
	"with corrupt 1%" \
	"with loss 3% delay 2ms 1ms duplicate 1%" \
	"mixed 64 delay 200ms" \
	"singly 320 loss 1%" \
	"singly 160 loss gemodel 1% 20% 80% 0.1%" \
	"drops_locally netem delay 1ms limit 3" \
	"drops_locally tbf rate 100mbit burst 70000 limit 100000" \
	"srq loss 3%" \
	"unreliable uc netem loss 10%" \
	"unreliable uc,mess netem loss 5% duplicate 5% delay 1ms reorder 75%" \
	"unreliable uc netem delay 10ms limit 12" \
	"unreliable ud netem loss 10%" \
	"unreliable ud,srq netem loss 10%" \
	"unreliable ud netem delay 10ms limit 3" \
	retransmissions_are_counted \
	perftest_completes \
	kill_process_without_answers \
	link_del_without_answers
