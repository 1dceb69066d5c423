#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Asynchronous events of QPs, CQs and the port: each comes, and once.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

# watch: the events of link1 go to $events
watch()
{
	helper verbs || return
	events=$tmp/events.$((out_nr += 1))
	start '' "$events" 60 "$here/verbs" watch "$link1" "$gid1"
	check poll_until 10 file_has "$events" ready
}

# seen EVENT: how often
seen()
{
	grep -c -x -e "$1" "$events"
}

seen_times()
{
	[ "$(seen "$1")" -eq "$2" ]
}

# settled: no event for half a second
settled()
{
	local before after

	before=$(wc -l <"$events")
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		nap
	done
	after=$(wc -l <"$events")
	[ "$before" = "$after" ]
}

port_events()
{
	local i

	watch || return
	for i in 1 2 3; do
		check ip -n "$ns1" link set "$dev1" down
		check poll_until 5 seen_times "port error" "$i" || return
		check ip -n "$ns1" link set "$dev1" up
		check poll_until 5 seen_times "port active" "$i" || return
	done
	# the carrier goes and comes with the peer
	check ip -n "$ns2" link set "$dev2" down
	check poll_until 5 seen_times "port error" 4
	check ip -n "$ns2" link set "$dev2" up
	check poll_until 5 seen_times "port active" 4
	check poll_until 10 settled
	equal 4 "$(seen "port error")" "port error"
	equal 4 "$(seen "port active")" "port active"
	stop "$started"
}

# gid_events ADDRESS [OPTION]
gid_events()
{
	watch || return
	check ip -n "$ns1" addr add "$1" dev "$dev1" $2
	check poll_until 5 seen_times "GID table change" 1
	check poll_until 10 settled
	equal 1 "$(seen "GID table change")" "after an address was added"
	check ip -n "$ns1" addr del "$1" dev "$dev1"
	check poll_until 5 seen_times "GID table change" 2
	check poll_until 10 settled
	equal 2 "$(seen "GID table change")" "after it was removed"
	equal 0 "$(seen "port error")" "port error"
	stop "$started"
}

begin
run_tests \
	"verbs event_comm_est" \
	"verbs event_drained" \
	"verbs event_access" \
	"verbs event_request" \
	"verbs event_cq" \
	"lone late_receive" \
	port_events \
	"gid_events 10.99.0.1/24" \
	"gid_events fd99::1/64 nodad"
