#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two removals of one link at once: each ends once, and soon, and nothing is
# left.

. "$(dirname "$0")/lib.sh"

setup()
{
	check modprobe -a veth dummy
}

# prepare: a namespace with a link, held open by a process
prepare()
{
	check setup_ns ns || return
	check setup_dummy dev "$ns" && check up "$ns" "$dev" 10.66.0.1/24 || return
	check setup_link link "$ns" "$dev" || return
	check_port "$ns" open
}

hold_open()
{
	local gid

	[ -x "$here/verbs" ] || return 0
	find_gid gid "$link" 10.66.0.1 || return
	start '' "$tmp/hold.$link" 60 "$here/verbs" hold "$link" "$gid" exit
	check poll_until 10 file_has "$tmp/hold.$link" ready
}

# both COMMAND1 -- COMMAND2: at once; they may fail, but have to end
both()
{
	local first=() second_pid first_pid

	while [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	shift
	"${first[@]}" >/dev/null 2>&1 &
	first_pid=$!
	"$@" >/dev/null 2>&1 &
	second_pid=$!
	pids+=("$first_pid" "$second_pid")
	poll_until 10 ended "$first_pid" || fail "does not end: ${first[*]}"
	poll_until 10 ended "$second_pid" || fail "does not end: $*"
	wait "$first_pid" "$second_pid"
	return 0
}

finish()
{
	check poll_until 5 link_gone "$link"
	[ ! -e "/run/netns/$ns" ] || check soon is_closed "$ns"
	[ -z "${started-}" ] || check ends "$started" 10 || diag_file "$tmp/hold.$link"
	started=
	ip netns del "$ns" 2>/dev/null
	forget_ns "$ns"
	links=()
}

race()
{
	local i

	for i in 1 2 3; do
		prepare || return
		[ $((i % 2)) -eq 0 ] || hold_open
		"$@"
		finish
		[ -z "$failed" ] || return
	done
	check_closed_everywhere
}

del_del() { both rdma link del "$link" -- rdma link del "$link"; }
del_netdev() { both rdma link del "$link" -- ip -n "$ns" link del "$dev"; }
netdev_del() { both ip -n "$ns" link del "$dev" -- rdma link del "$link"; }
del_netns() { both rdma link del "$link" -- ip netns del "$ns"; }
netdev_netns() { both ip -n "$ns" link del "$dev" -- ip netns del "$ns"; }
del_rmmod() { both rdma link del "$link" -- modprobe -r rdma_rxe; check load_module; }
netdev_rmmod() { both ip -n "$ns" link del "$dev" -- modprobe -r rdma_rxe; check load_module; }
netns_rmmod() { both ip netns del "$ns" -- modprobe -r rdma_rxe; check load_module; }

link_del_twice() { race del_del; }
link_del_and_netdev_del() { race del_netdev; }
netdev_del_and_link_del() { race netdev_del; }
link_del_and_netns_del() { race del_netns; }
netdev_del_and_netns_del() { race netdev_netns; }
link_del_and_unload() { race del_rmmod; }
netdev_del_and_unload() { race netdev_rmmod; }
netns_del_and_unload() { race netns_rmmod; }

# Adding while it goes: either there is a link, or there is none.
link_add_and_netdev_del()
{
	local i

	for i in 1 2 3 4; do
		check setup_ns ns || return
		check setup_dummy dev "$ns" && check up "$ns" "$dev" || return
		link=$(random_name rxe)
		both ip netns exec "$ns" rdma link add "$link" type rxe netdev "$dev" -- \
			ip -n "$ns" link del "$dev"
		check poll_until 5 link_gone "$link"
		check soon is_closed "$ns"
		check delete_ns "$ns"
		[ -z "$failed" ] || return
	done
}

link_add_twice()
{
	local i

	for i in 1 2 3; do
		check setup_ns ns || return
		check setup_dummy dev "$ns" && check up "$ns" "$dev" || return
		link=$(random_name rxe)
		both ip netns exec "$ns" rdma link add "$link" type rxe netdev "$dev" -- \
			ip netns exec "$ns" rdma link add "$link" type rxe netdev "$dev"
		check link_exists "$link"
		check_port "$ns" open
		check in_ns "$ns" rdma link del "$link"
		check_port "$ns" closed
		check delete_ns "$ns"
		[ -z "$failed" ] || return
	done
}

begin
run_tests \
	link_del_twice \
	link_del_and_netdev_del \
	netdev_del_and_link_del \
	link_del_and_netns_del \
	netdev_del_and_netns_del \
	link_add_and_netdev_del \
	link_add_twice \
	link_del_and_unload \
	netdev_del_and_unload \
	netns_del_and_unload
