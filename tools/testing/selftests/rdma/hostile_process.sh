#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Processes that write nonsense into their rings, unmap, fork, die or reach a limit:
# others on the same devices notice nothing, and nothing is left.
#
# Environment: RDMA_TEST_ROUNDS=N processes that scribble in their rings (8, and 4, one of
# each kind, on a slow machine)

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs || return
	check setup_pair 4500 && start_intact
}

bystander_works()
{
	local n

	check_not ended "$intact" || { diag_file "$intact_out"; return; }
	n=$(counter "$link1" sent_pkts)
	check poll_until 20 counter_above "$link1" sent_pkts $((n + 50))
}

# objects: lines of what there is on both links
objects()
{
	local kind

	for kind in qp cq mr pd ctx srq; do
		rdma resource show "$kind" link "$link1" 2>/dev/null
		rdma resource show "$kind" link "$link2" 2>/dev/null
	done | wc -l
}

objects_are()
{
	[ "$(objects)" -eq "$1" ]
}

# process TEST [ARGUMENT]: and nothing is left of it
process()
{
	local before

	before=$(objects)
	verbs "$@"
	check poll_until 10 objects_are "$before"
	bystander_works
}

scribble()
{
	process scribble "${RDMA_TEST_ROUNDS:-$((slow > 1 ? 4 : 8))}"
}

# With 1,000 QPs, fewer on a slow machine: the device is free soon after.
dies_with_many_qps()
{
	local before out=$tmp/many status=0

	before=$(objects)
	# its second messages find no receive: they keep two processors busy until the end
	start '' "$out" 280 "$here/verbs" many_die "$link1" "$gid1" "$link2" "$gid2" \
		$((500 / slow))
	ends "$started" 270 >"$tmp/ends" || status=$?
	equal 137 "$status" "status of the process that kills itself" || diag_file "$out"
	check file_has "$out" ready
	check poll_until 10 objects_are "$before"
	bystander_works
}

# A child of a dead process keeps the device open: that does not keep the link.
orphan()
{
	local dev link gid out=$tmp/orphan pid before

	check setup_dummy dev "$ns1" && check up "$ns1" "$dev" 10.17.1.1/24 || return
	check setup_link link "$ns1" "$dev" && check find_gid gid "$link" 10.17.1.1 || return
	before=$(objects)
	start '' "$out" 60 "$here/verbs" orphan "$link" "$gid" "$link" "$gid"
	check poll_until 20 file_has "$out" ready || { diag_file "$out"; return; }
	pid=$(sed -n 's/^ready //p' "$out")
	check_not ended "$pid"
	check takes_less "$prompt" link_del "$link"
	check link_gone "$link"
	kill "$pid"
	check poll_until 10 objects_are "$before"
	bystander_works
}

# memory that may not be locked, as a user without rights
memlock()
{
	cp "$here/verbs" "$tmp/verbs" && chmod 755 "$tmp" "$tmp/verbs"
	check in_ns "$ns1" setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all \
		"$tmp/verbs" memlock "$link1" "$gid1"
	bystander_works
}

memory_of()
{
	cat "$group/memory.current"
}

memory_above()
{
	[ "$(memory_of)" -gt "$1" ]
}

memory_below()
{
	[ "$(memory_of)" -lt "$1" ]
}

# make_group: sets group, a cgroup whose controller $1 is on, with a file $2
make_group()
{
	group=/sys/fs/cgroup/$link1-$1
	mkdir "$group" 2>/dev/null || { skip "no cgroup v2 here"; return 1; }
	grep -qw "$1" "$group/cgroup.controllers" ||
		echo "+$1" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	[ -e "$group/$2" ] || {
		rmdir "$group"
		skip "no cgroups of $1 here"
		return 1
	}
}

# start_in_group OUTPUT TEST [ARGUMENT]: of verbs
start_in_group()
{
	# shellcheck disable=SC2016 # for the inner shell
	start '' "$1" 60 sh -c 'echo $$ >"$1"/cgroup.procs; shift; exec "$@"' sh "$group" \
		"$here/verbs" "$2" "$link1" "$gid1" "${@:3}"
}

# A process pays for its rings, until they are gone.
rings_are_charged()
{
	local group out=$tmp/rings mi=$((1 << 20))

	make_group memory memory.current || return
	start_in_group "$out" big_rings
	check poll_until 20 file_has "$out" ready || diag_file "$out"
	check memory_above $((32 * mi)) || diag "$(memory_of)"
	stop "$started"
	check poll_until 10 memory_below $((16 * mi)) || diag "$(memory_of)"
	check poll_until 10 rmdir "$group"
}

# A process comes to the limit of its cgroup: the verb fails, the kernel ends nobody for it.
memory_runs_out()
{
	local group out=$tmp/use before reached killed

	make_group memory memory.max || return
	before=$(objects)
	echo $((24 << 20)) >"$group/memory.max"
	start_in_group "$out" use_memory
	check ends "$started" 50 || diag_file "$out"
	reached=$(sed -n 's/^max //p' "$group/memory.events")
	killed=$(sed -n 's/^oom_kill //p' "$group/memory.events")
	[ "$reached" -gt 0 ] || fail "the limit was not reached"
	equal 0 "$killed" "processes that were ended"
	equal "$before" "$(objects)" objects
	check poll_until 10 memory_below $((4 << 20)) || diag "$(memory_of)"
	check poll_until 10 rmdir "$group"
	bystander_works
}

# A process has as many objects as its cgroup, or the device, may have.
objects_run_out()
{
	local group out=$tmp/objects

	process use_objects
	make_group rdma rdma.max || return
	check eval "echo $link1 hca_object=50 >$group/rdma.max"
	start_in_group "$out" use_objects "$link2" "$gid2" 50
	check ends "$started" 30 || diag_file "$out"
	# a limit that outlives its cgroup: the kernel uses freed memory when the link goes
	check eval "echo $link1 hca_object=max >$group/rdma.max"
	check poll_until 10 rmdir "$group"
	bystander_works
}

bystander_is_intact()
{
	ends_intact
	diag "$(tail -n 1 "$intact_out")"
}

begin
run_tests \
	scribble \
	"process foreign_keys" \
	"process destroy_orders" \
	"process unmap_rings" \
	dies_with_many_qps \
	"process fork_exec" \
	orphan \
	memlock \
	"process bad_answer" \
	rings_are_charged \
	memory_runs_out \
	objects_run_out \
	bystander_is_intact
