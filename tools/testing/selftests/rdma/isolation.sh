#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the RDMA core's shared mode every namespace sees every device; but a GID
# is for processes of its namespace, or with CAP_NET_ADMIN over it.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 1500 || return
	file_has <(rdma system) "netns shared" || fail "the RDMA core is not in shared mode"
}

# as NAMESPACE KIND COMMAND...: run by root, by an unprivileged user, or by root
# of a user namespace of its own
as()
{
	local ns=$1 kind=$2

	shift 2
	case $kind in
	root) in_ns "$ns" "$@" ;;
	nobody) in_ns "$ns" setpriv --reuid 65534 --regid 65534 --clear-groups "$@" ;;
	userns) in_ns "$ns" unshare --user --map-root-user "$@" ;;
	# a network namespace that this root owns
	container) in_ns "$ns" unshare --user --map-root-user --net "$@" ;;
	esac
}

# gid_of_1 OWNER|OTHER KIND RESULT
gid_of_1()
{
	local ns=$ns1

	helper verbs || return
	[ "$1" = owner ] || ns=$ns2
	as "$ns" "$2" true 2>/dev/null || { skip "no user namespaces here"; return; }
	# a program that everybody can execute, wherever this directory is
	cp "$here/verbs" "$tmp/verbs" && chmod 755 "$tmp" "$tmp/verbs"
	check as "$ns" "$2" "$tmp/verbs" try_gid "$link1" "$gid1" "$3"
}

pingpong_with_a_foreign_gid()
{
	port=$((port + 1))
	server=(ibv_rc_pingpong -d "$link1" -g "$gid1" -p "$port" -n 10)
	client=(unshare --user --map-root-user
		ibv_rc_pingpong -d "$link1" -g "$gid1" -p "$port" -n 10 "$ip1")
	unshare --user true 2>/dev/null || { skip "no user namespaces here"; return; }
	check_not run_pair "$ns1" "$ns2" tcp_listens
}

pingpong_between_unprivileged_users()
{
	port=$((port + 1))
	server=(setpriv --reuid 65534 --regid 65534 --clear-groups
		ibv_rc_pingpong -d "$link1" -g "$gid1" -p "$port" -n 10)
	client=(setpriv --reuid 65534 --regid 65534 --clear-groups
		ibv_rc_pingpong -d "$link2" -g "$gid2" -p "$port" -n 10 "$ip1")
	check run_pair "$ns1" "$ns2" tcp_listens
}

begin
run_tests \
	"gid_of_1 owner root OK" \
	"gid_of_1 owner nobody OK" \
	"gid_of_1 owner userns OK" \
	"gid_of_1 other root OK" \
	"gid_of_1 other nobody EPERM" \
	"gid_of_1 other userns EPERM" \
	"gid_of_1 other container EPERM" \
	pingpong_with_a_foreign_gid \
	pingpong_between_unprivileged_users
