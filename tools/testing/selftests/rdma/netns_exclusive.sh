#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "rdma system set netns exclusive": a link belongs to the namespace that it was added
# in, others do not see it and cannot open it; it can be moved, under traffic too.
#
# There must be no other network namespace: the core does not switch then.

. "$(dirname "$0")/lib.sh"

# /sys of the initial namespace does not show links of others in this mode.
link_file() # NAMESPACE LINK FILE
{
	in_ns "$1" cat "/sys/class/infiniband/$2/$3" 2>/dev/null
}

sees()
{
	[ -n "$(link_file "$1" "$2" node_guid)" ]
}

sees_not()
{
	! sees "$@"
}

is_active()
{
	[[ $(link_file "$1" "$2" ports/1/state) = *ACTIVE ]]
}

gid_index_in() # NAMESPACE LINK ADDRESS: sets gid_found
{
	local gid

	gid=$(gid_of "$3")
	# shellcheck disable=SC2016 # for the inner shell
	gid_found=$(in_ns "$1" sh -c 'cd "/sys/class/infiniband/$1/ports/1" || exit
		for i in $(seq 0 15); do
			[ "$(cat gids/$i 2>/dev/null)" != "$2" ] ||
				[ "$(cat gid_attrs/types/$i 2>/dev/null)" != "RoCE v2" ] || {
				echo $i
				exit
			}
		done' sh "$2" "$gid" 2>/dev/null)
	[ -n "$gid_found" ]
}

uverbs_of() # NAMESPACE LINK
{
	# shellcheck disable=SC2016 # for the inner shell
	in_ns "$1" sh -c 'grep -lx "$1" /sys/class/infiniband_verbs/uverbs*/ibdev' sh "$2" 2>/dev/null |
		sed -n 's,.*/\(uverbs[0-9]*\)/.*,\1,p'
}

opens() # NAMESPACE UVERBS
{
	# shellcheck disable=SC2016 # for the inner shell
	in_ns "$1" sh -c ': <"/dev/infiniband/$1"' sh "$2"
}

setup()
{
	exclusive=
	helper verbs || return
	rdma system set netns exclusive >"$tmp/set" 2>&1 || {
		skip "no exclusive mode: $(head -n 1 "$tmp/set")"
		return
	}
	exclusive=1
	check setup_ns ns1 ns2 ns3 && check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	ip1=10.18.1.1 ip2=10.18.1.2
	check up "$ns1" "$dev1" $ip1/24 fd00:18::1/64 && check up "$ns2" "$dev2" $ip2/24 fd00:18::2/64
	check setup_link link1 "$ns1" "$dev1" && check setup_link link2 "$ns2" "$dev2"
}

mode()
{
	[ -n "$exclusive" ] || { skip "no exclusive mode"; return 1; }
}

ready()
{
	check poll_until 10 is_active "$ns1" "$link1" && check poll_until 10 is_active "$ns2" "$link2"
	check poll_until 10 gid_index_in "$ns1" "$link1" $ip1 || return
	gid1=$gid_found
	check poll_until 10 gid_index_in "$ns2" "$link2" $ip2 || return
	gid2=$gid_found
}

link_is_in_its_namespace()
{
	mode || return
	check sees "$ns1" "$link1"
	check sees_not "$ns2" "$link1"
	check sees_not '' "$link1"
	check in_ns "$ns1" rdma link show "$link1/1"
	check_not in_ns "$ns2" rdma link show "$link1/1"
	check_not rdma link show "$link1/1"
	check_not in_ns "$ns2" rdma link del "$link1"
	check_not rdma link del "$link1"
	check sees "$ns1" "$link1"
	check_open_only_in "$ns1" "$ns2"
}

others_cannot_open_it()
{
	local uverbs

	mode && ready || return
	uverbs=$(uverbs_of "$ns1" "$link1")
	[ -n "$uverbs" ] || { fail "$link1 has no uverbs device"; return; }
	check opens "$ns1" "$uverbs"
	check_not opens "$ns2" "$uverbs"
	check_not opens '' "$uverbs"
	check in_ns "$ns1" "$here/verbs" try_gid "$link1" "$gid1" OK
	check_not in_ns "$ns2" "$here/verbs" try_gid "$link1" "$gid1" OK
}

traffic()
{
	mode && ready || return
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 50 -c -s 20000
	check pingpong ud "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 50 -c -s 900
	check ping "$ns1" "$ip1" "$ns2" -C 5
	check ping "$ns2" "$ip2" "$ns1" -C 5
}

# one name in two namespaces: the core allows it from 7.3 on
same_name()
{
	local dev3 add=()

	mode && check setup_dummy dev3 "$ns3" || return
	add=(in_ns "$ns3" rdma link add "$link1" type rxe netdev "$dev3")
	case $(uname -r) in
	6.*)
		"${add[@]}" >"$tmp/add" 2>&1 && fail "there are two $link1"
		check file_has "$tmp/add" "Too many open files in system|File exists" ;;
	*)
		check "${add[@]}" || return
		check sees "$ns3" "$link1"
		check in_ns "$ns3" rdma link del "$link1"
		check sees_not "$ns3" "$link1" ;;
	esac
	check sees "$ns1" "$link1"
	check_open_only_in "$ns1" "$ns2"
}

# device set LINK netns NS, under traffic: processes get errors, it works there and back
moves_under_traffic()
{
	local server_pid client_pid

	mode && ready || return
	port=$((port + 1))
	start "$ns1" "$tmp/bw.s" 100 ib_write_bw -d "$link1" -x "$gid1" -F -D 90 -p $port
	server_pid=$started
	check poll_until 15 tcp_listens "$ns1" $port || return
	start "$ns2" "$tmp/bw.c" 100 ib_write_bw -d "$link2" -x "$gid2" -F -D 90 -p $port "$ip1"
	client_pid=$started
	check poll_until 20 flows || diag_file "$tmp/bw.c"
	check takes_less 5000 in_ns "$ns1" rdma dev set "$link1" netns "$ns3"
	check sees "$ns3" "$link1"
	check sees_not "$ns1" "$link1"
	# sockets stay where the netdev is
	check_open_only_in "$ns1" "$ns2"
	check takes_less "$prompt" stop "$server_pid"
	check takes_less "$prompt" stop "$client_pid"
	check in_ns "$ns3" rdma dev set "$link1" netns "$ns1"
	check sees "$ns1" "$link1"
	traffic
}

# Processes of another namespace than the netdevs': with rights over that of these they
# use the addresses there, without them not.
traffic_from_another_namespace()
{
	local ns

	mode || return
	for ns in 1 2; do
		local -n from=ns$ns link=link$ns
		check in_ns "$from" rdma dev set "$link" netns "$ns3" || return
	done
	check poll_until 10 is_active "$ns3" "$link1" && check poll_until 10 is_active "$ns3" "$link2"
	check poll_until 10 gid_index_in "$ns3" "$link1" $ip1 || return
	gid1=$gid_found
	check poll_until 10 gid_index_in "$ns3" "$link2" $ip2 || return
	gid2=$gid_found
	check_open_only_in "$ns1" "$ns2"
	check in_ns "$ns3" timeout $((60 * slow)) "$here/verbs" exchange \
		"$link1" "$gid1" "$link2" "$gid2"
	check in_ns "$ns3" "$here/verbs" try_gid "$link1" "$gid1" OK
	check in_ns "$ns3" setpriv --bounding-set=-all --inh-caps=-all \
		"$here/verbs" try_gid "$link1" "$gid1" EPERM
	for ns in 1 2; do
		local -n from=ns$ns link=link$ns
		check in_ns "$ns3" rdma dev set "$link" netns "$from"
		check sees "$from" "$link"
	done
	ready
	check ping "$ns1" "$ip1" "$ns2" -C 3
}

flows()
{
	local n

	n=$(link_file "$ns2" "$link2" ports/1/hw_counters/sent_pkts)
	[ "${n:-0}" -gt 500 ]
}

# What an unprivileged user can do in a user namespace of its own: look at nothing, add
# nothing.
unprivileged()
{
	mode || return
	as_nobody true >"$tmp/userns" 2>&1 || { skip "no user namespaces here"; return; }
	# shellcheck disable=SC2016 # for the inner shell
	as_nobody sh -c 'ip link add d0 type dummy && ip addr add 10.18.9.1/24 dev d0 &&
		ip link set d0 up && echo netdev && rdma link add rxe_nobody type rxe netdev d0 &&
		echo added; rdma link show; ls /dev/infiniband/uverbs* |
		while read -r dev; do : <"$dev" && echo "opened $dev"; done' >"$tmp/nobody" 2>&1
	check file_has "$tmp/nobody" '^netdev$' || diag_file "$tmp/nobody"
	check_not file_has "$tmp/nobody" '^added|^link |^opened'
	check sees "$ns1" "$link1"
}

as_nobody()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups unshare --user --map-root-user --net "$@"
}

namespace_dies()
{
	local pid

	mode && ready || return
	start '' "$tmp/hold" 60 ip netns exec "$ns1" "$here/verbs" hold "$link1" "$gid1"
	pid=$started
	check poll_until 15 file_has "$tmp/hold" ready
	stop "$pid"
	check delete_ns "$ns1"
	check poll_until 20 sees_not "$ns2" "$link1"
	check poll_until 20 sees_not "$ns2" "$link2"
	check poll_until 20 is_closed "$ns2"
}

shared()
{
	rdma system set netns shared
}

# The mode does not change while there is another namespace.
shared_is_refused()
{
	mode && ready || return
	shared >"$tmp/shared" 2>&1 && fail "shared, with other namespaces there"
	check file_has "$tmp/shared" "Device or resource busy"
	check file_has <(rdma system) "netns exclusive"
	check sees_not '' "$link1"
	check ping "$ns1" "$ip1" "$ns2" -C 3
}

back_to_shared()
{
	local ns

	mode || return
	for ns in "$ns2" "$ns3"; do
		check delete_ns "$ns"
	done
	check poll_until 20 shared
	exclusive=
	links=() link_ns=()
	check setup_pair 1500 || return
	rdma system set netns exclusive >"$tmp/exclusive" 2>&1 &&
		fail "exclusive, with other namespaces there"
	check file_has "$tmp/exclusive" "Device or resource busy"
	check file_has <(rdma system) "netns shared"
	check ping "$ns1" "$ip1" "$ns2" -C 3
	check link_exists "$link1"
}

leave()
{
	local status=$?

	if [ -n "${exclusive-}" ]; then
		take_down >/dev/null 2>&1
		poll_until 20 shared 2>/dev/null
	fi
	(exit "$status")
	cleanup
}

begin
trap leave EXIT
run_tests \
	link_is_in_its_namespace \
	others_cannot_open_it \
	traffic \
	same_name \
	moves_under_traffic \
	traffic_from_another_namespace \
	unprivileged \
	shared_is_refused \
	namespace_dies \
	back_to_shared
