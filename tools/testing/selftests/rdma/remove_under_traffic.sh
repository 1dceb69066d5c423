#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A netdev, a link, a namespace or the module goes while QPs are connected,
# programs have the device open and traffic flows: it takes less than two
# seconds, the programs get errors, nothing is left.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs || return
	check modprobe -a veth
}

# busy_pair: two namespaces and
# - a process with QPs on both links and traffic, from the initial namespace
#   (processes in a namespace would keep it alive)
# - processes that have one link's device open, one asleep
# - if asked for with "inside": endless rping and ib_write_bw, inside
busy_pair()
{
	[ -x "$here/verbs" ] || { skip "verbs is not built"; return 1; }
	inside=()
	check setup_pair 4500 || return
	start '' "$tmp/stream" 60 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2"
	stream=$started
	start '' "$tmp/hold" 60 "$here/verbs" hold "$link1" "$gid1"
	hold=$started
	start '' "$tmp/sleep" 60 "$here/verbs" hold "$link1" "$gid1" sleep
	sleeper=$started
	if [ "${1-}" = inside ]; then
		start "$ns1" "$tmp/rping.s" 60 rping -s -a "$ip1" -p 7500 -S 1000
		inside+=("$started")
		start "$ns1" "$tmp/bw.s" 60 ib_write_bw -d "$link1" -x "$gid1" -F -D 50 -p 7501
		inside+=("$started")
		check poll_until 15 cm_listens "$ns1" 7500
		check poll_until 15 tcp_listens "$ns1" 7501
		start "$ns2" "$tmp/rping.c" 60 rping -c -a "$ip1" -p 7500 -S 1000
		inside+=("$started")
		start "$ns2" "$tmp/bw.c" 60 ib_write_bw -d "$link2" -x "$gid2" -F -D 50 -p 7501 "$ip1"
		inside+=("$started")
		check poll_until 15 connected_qps 6 || {
			rdma resource show qp >"$tmp/qps"
			for started in qps rping.s rping.c bw.s bw.c; do
				diag "$started:"
				diag_file "$tmp/$started"
			done
		}
	fi
	check poll_until 15 file_has "$tmp/hold" ready
	check poll_until 15 file_has "$tmp/sleep" ready
	check poll_until 15 file_has "$tmp/stream" ready || diag_file "$tmp/stream"
}

# connected_qps NUMBER: on both links together. (A responder may stay in RTR.)
connected_qps()
{
	[ "$(rdma resource show qp | grep -e "link $link1/1" -e "link $link2/1" |
		grep -c 'type RC state RT[RS]')" -ge "$1" ]
}

# after: everybody has noticed that link1 is gone
after()
{
	local pid

	check soon link_gone "$link1"
	check ends "$hold" 10 || diag_file "$tmp/hold"
	check file_has "$tmp/hold" "gone: EIO"
	check ends "$stream" 20 || diag_file "$tmp/stream"
	check_not ended "$sleeper"
	stop "$sleeper"
	# perftest may wait for ever for a completion: it has to be possible to end it
	for pid in "${inside[@]}"; do
		check takes_less "$prompt" stop "$pid"
	done
}

# The other end of the pair is as good as new.
other_link_works()
{
	local dev3 link3 gid3

	if link_gone "$link2"; then
		fail "the other link is gone too"
		return
	fi
	check setup_dummy dev3 "$ns2" && check up "$ns2" "$dev3" 10.99.0.1/24 || return
	check setup_link link3 "$ns2" "$dev3" || return
	check find_gid gid3 "$link3" 10.99.0.1 || return
	check timeout 30 "$here/verbs" many "$link3" "$gid3" "$link3" "$gid3" 4
	check link_del "$link3"
	check link_del "$link2"
	check_closed_everywhere
}

link_del_under_traffic()
{
	busy_pair inside || return
	check takes_less "$prompt" link_del "$link1"
	check_port "$ns1" closed
	after
	other_link_works
}

netdev_del_under_traffic()
{
	busy_pair inside || return
	check takes_less "$prompt" ip -n "$ns1" link del "$dev1"
	after
	check soon is_closed "$ns1"
	# its peer has gone with it, and the link on that
	check soon link_gone "$link2"
	check_soon_closed_everywhere
}

# lower_netdev_del_under_traffic vlan|macvlan OPTION...: with links and traffic on netdevs
# above it, one of them in another namespace, and a link on itself
lower_netdev_del_under_traffic()
{
	local ns3 lower

	check new_ns ns1 ns2 ns3 && check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check up "$ns1" "$dev1" 10.98.1.1/24 && check up "$ns2" "$dev2" || return
	add_netdev "$ns1" top0 link "$dev1" netns "$ns3" type "$@" || return
	add_netdev "$ns2" top0 link "$dev2" type "$@" || return
	exchange_on "$ns3" top0 "$ns2" top0 - || return
	check setup_link lower "$ns1" "$dev1" || return
	start '' "$tmp/hold" 60 "$here/verbs" hold "$lower" 0
	hold=$started
	find_gid gid1 "$link1" "$ip1" && find_gid gid2 "$link2" "$ip2" || return
	start '' "$tmp/stream" 60 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2"
	stream=$started
	check poll_until 15 file_has "$tmp/hold" ready
	check poll_until 15 file_has "$tmp/stream" ready || diag_file "$tmp/stream"
	# three links, one after the other
	check takes_less $((3 * prompt)) ip -n "$ns1" link del "$dev1"
	check soon link_gone "$link1"
	check soon link_gone "$lower"
	# those of its peer go with it
	check soon link_gone "$link2"
	check ends "$stream" 20 || diag_file "$tmp/stream"
	check file_has "$tmp/stream" "is gone: EIO|^error: |^post_send: "
	check ends "$hold" 10 || diag_file "$tmp/hold"
	check file_has "$tmp/hold" "gone: EIO"
	check poll_until 10 open_only_in none
}

namespace_exits()
{
	ip netns del "$ns1" && poll_until 10 link_gone "$link1"
}

namespace_del_under_traffic()
{
	busy_pair || return
	check takes_less "$prompt" namespace_exits
	forget_ns "$ns1"
	after
	check soon link_gone "$link2"
	check_soon_closed_everywhere
}

# as it is when a container dies: processes first, then the namespace
namespace_with_processes_dies()
{
	local pid

	busy_pair inside || return
	stop "$stream"
	stop "$hold"
	stop "$sleeper"
	check ip netns del "$ns1"
	forget_ns "$ns1"
	for pid in "${inside[@]}"; do
		# with its children: timeout(1) leads a process group
		kill -KILL -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	check poll_until 5 link_gone "$link1"
	check soon link_gone "$link2"
	check_soon_closed_everywhere
}

netdev_moves_to_another_namespace()
{
	local ns3

	busy_pair || return
	check setup_ns ns3 || return
	check takes_less "$prompt" ip -n "$ns1" link set "$dev1" netns "$ns3"
	after
	check soon is_closed "$ns1"
	check_port "$ns3" closed
	# and can have a link there
	check up "$ns3" "$dev1" "$ip1/24"
	check setup_link link1 "$ns3" "$dev1" || return
	check find_gid gid1 "$link1" "$ip1"
	check_active "$link1"
	check ping "$ns3" "$ip1" "$ns2" -C 5
	check link_del "$link1"
	check link_del "$link2"
	check_closed_everywhere
}

module_unload_under_traffic()
{
	busy_pair inside || return
	check takes_less "$prompt" unload_module
	check module_is_gone
	after
	check link_gone "$link2"
	check_closed_everywhere
	check load_module
	check_closed_everywhere
}

begin
run_tests \
	link_del_under_traffic \
	netdev_del_under_traffic \
	"lower_netdev_del_under_traffic vlan id 7" \
	"lower_netdev_del_under_traffic macvlan mode bridge" \
	namespace_del_under_traffic \
	namespace_with_processes_dies \
	netdev_moves_to_another_namespace \
	module_unload_under_traffic
