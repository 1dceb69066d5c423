#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Multicast groups, IPv4 and IPv6, among three namespaces on a bridge: mckey,
# and QPs that are attached by hand; who gets what, and that groups are left
# again whatever way their members end.

. "$(dirname "$0")/lib.sh"

group4=239.33.1.1 group6=ff15::33:1

setup()
{
	local i

	helper multicast && helper packets || return
	check setup_ns hub ns_1 ns_2 ns_3 || return
	check ip -n "$hub" link add br0 type bridge || return
	check up "$hub" br0
	for i in 1 2 3; do
		local -n ns=ns_$i
		check setup_veth "dev_$i" "$ns" port "$hub" || return
		local -n dev=dev_$i
		check ip -n "$hub" link set "$port" master br0 up
		check up "$ns" "$dev" "10.34.0.$i/24" "fd34::$i/64" || return
		check setup_link "link_$i" "$ns" "$dev" || return
	done
	for i in 1 2 3; do
		local -n link=link_$i
		find_gid "gid4_$i" "$link" "10.34.0.$i"
		! have_ipv6 || find_gid "gid6_$i" "$link" "fd34::$i"
		check_active "$link"
	done
}

# group_mac GROUP: its MAC address
group_mac()
{
	local gid parts

	case $1 in
	*:*)
		gid=$(gid_of "$1")
		echo "33:33:${gid:30:2}:${gid:32:2}:${gid:35:2}:${gid:37:2}" ;;
	*)
		IFS=. read -r -a parts <<<"$1"
		printf '01:00:5e:%02x:%02x:%02x\n' $((parts[1] & 0x7f)) "${parts[2]}" \
			"${parts[3]}" ;;
	esac
}

# groups NAMESPACE NETDEV GROUP: "ip" where it is joined, "mac" where it is in
# the filter of MAC addresses
groups()
{
	local out

	out=$(ip -n "$1" maddr show dev "$2" | tr -s ' \t' ' ')
	case $out in *" inet $3"*|*" inet6 $3"*) echo ip ;; esac
	case $out in *" link $(group_mac "$3")"*) echo mac ;; esac
}

has_group()
{
	[ "$(groups "$@")" = "ip
mac" ]
}

no_group()
{
	[ -z "$(groups "$@")" ]
}

# receiver NUMBER GROUP QPS: sets out_NUMBER, pid_NUMBER
receiver()
{
	local -n _ns=ns_$1 _link=link_$1
	local _family=4 _out=$tmp/receive.$((out_nr += 1))

	case $2 in *:*) _family=6 ;; esac
	local -n _gid=gid${_family}_$1
	start "$_ns" "$_out" 60 "$here/multicast" receive "$_link" "$_gid" "$2" "$3"
	printf -v "out_$1" %s "$_out"
	printf -v "pid_$1" %s "$started"
	check poll_until 10 file_has "$_out" ready || {
		diag_file "$_out"
		return 1
	}
}

# tell PID SIGNAL: to the program, not to timeout(1)
tell()
{
	kill "-$2" "$(pgrep -P "$1")"
}

# send_from NUMBER GROUP COUNT BYTES TEXT [HOPS [QKEY]]
send_from()
{
	local -n _ns=ns_$1 _link=link_$1
	local _family=4

	case $2 in *:*) _family=6 ;; esac
	local -n _gid=gid${_family}_$1
	shift
	check in_ns "$_ns" "$here/multicast" send "$_link" "$_gid" "$@"
}

# got FILE COUNT TEXT
got()
{
	[ "$(grep -c "$3" "$1")" -eq "$2" ]
}

check_got()
{
	check poll_until 5 got "$@" || {
		diag "$(grep -c "$3" "$1") of $2 '$3'"
		diag_file "$1"
	}
}

need_family()
{
	case $1 in
	4) group=$group4 ;;
	6) group=$group6; have_ipv6 || { skip "this kernel has no IPv6"; return 1; } ;;
	esac
}

# mckey_works GROUP ADDRESS1 ADDRESS2: from namespace 2 to namespace 1
mckey_works()
{
	local out=$tmp/mckey.$((out_nr += 1)) server

	command -v mckey >/dev/null || { skip "mckey is not installed"; return; }
	case $1 in *:*) need_family 6 || return ;; esac
	start "$ns_1" "$out.1" 60 mckey -m "$1" -b "$2" -C 20 -S 200
	server=$started
	poll_until 15 mckey_ready "$server" "$1" "$out.1"
	if ended "$server" && grep -q "Unknown error 524" "$out.1"; then
		# ENOTSUPP of cma_iboe_join_multicast(), before the driver is asked
		skip "this kernel's rdma_cm joins no IPv6 groups for RoCE v2"
		return
	fi
	start "$ns_2" "$out.2" 60 mckey -m "$1" -b "$3" -C 20 -S 200 -s
	check ends "$started" 20 || diag_file "$out.2"
	check ends "$server" 20 || diag_file "$out.1"
	check grep -q "data transfers complete" "$out.1" || diag_file "$out.1"
	check no_group "$ns_1" "$dev_1" "$1"
	check no_group "$ns_2" "$dev_2" "$1"
}

mckey_ready()
{
	ended "$1" || file_has "$3" "receiving data"
}

# members in each namespace, in the sender's too, and of another group
everybody_gets_it()
{
	local group other=239.33.1.2 i

	need_family "$1" || return
	[ "$1" = 4 ] || other=ff15::33:2
	receiver 1 "$group" 3 && receiver 2 "$group" 2 || return
	local other_pid other_out
	receiver 3 "$other" 1 || return
	other_pid=$pid_3 other_out=$out_3
	receiver 3 "$group" 1 || return
	send_from 3 "$group" 5 100 "from 3"
	send_from 1 "$group" 5 1000 "from 1"
	for i in 1 2 3; do
		local -n out=out_$i
		check_got "$out" $((5 * (4 - i))) "100 bytes, from 3"
		check_got "$out" $((5 * (4 - i))) "1000 bytes, from 1"
		check_got "$out" 5 "QP 0: 100 bytes, from 3"
	done
	send_from 2 "$other" 3 50 "to the other"
	check_got "$other_out" 3 "to the other"
	check_not file_has "$out_1" "to the other"
	check_not file_has "$out_3" "to the other"
	check_not file_has "$other_out" "from"
	for i in "$other_pid" "$pid_1" "$pid_2" "$pid_3"; do
		stop "$i"
	done
}

# one burst of as many full packets as a QP takes
bursts()
{
	local group

	need_family "$1" || return
	receiver 1 "$group" 4 || return
	send_from 2 "$group" 60 1024 burst
	check_got "$out_1" 240 "1024 bytes, burst"
	stop "$pid_1"
}

# last_one_leaves 4|6: and detaching is what the netdev sees
last_one_leaves()
{
	local group n

	need_family "$1" || return
	check no_group "$ns_1" "$dev_1" "$group"
	receiver 1 "$group" 3 || return
	check has_group "$ns_1" "$dev_1" "$group"
	tell "$pid_1" USR1
	check poll_until 5 file_has "$out_1" "^left"
	check has_group "$ns_1" "$dev_1" "$group"
	send_from 2 "$group" 2 60 "after one has left"
	check_got "$out_1" 4 "after one has left"
	check_not file_has "$out_1" "QP 0: 60 bytes, after"
	tell "$pid_1" USR2
	check poll_until 5 got "$out_1" 2 "^left"
	check no_group "$ns_1" "$dev_1" "$group"
	# and a second attach is like the first
	stop "$pid_1"
	receiver 1 "$group" 1 || return
	send_from 2 "$group" 1 60 "joined again"
	check_got "$out_1" 1 "joined again"
	stop "$pid_1"
}

# the process is killed, with QPs attached
killed_process_leaves()
{
	local group

	need_family "$1" || return
	receiver 1 "$group" 2 || return
	check has_group "$ns_1" "$dev_1" "$group"
	tell "$pid_1" KILL
	check soon no_group "$ns_1" "$dev_1" "$group"
	stop "$pid_1"
}

# somebody else has joined the group too: it stays joined when we leave
foreign_membership_stays()
{
	command -v socat >/dev/null || { skip "socat is not installed"; return; }
	receiver 1 "$group4" 1 || return
	start "$ns_1" "$tmp/socat" 60 socat -u "UDP4-RECV:7788,ip-add-membership=$group4:$dev_1" -
	local socat=$started
	check poll_until 5 udp_bound "$ns_1" 7788 || diag_file "$tmp/socat"
	tell "$pid_1" USR1
	check poll_until 5 file_has "$out_1" "^left"
	check has_group "$ns_1" "$dev_1" "$group4"
	# nobody of ours is in it: dropped, with a name
	dropped_as_no_group send_from 2 "$group4" 3 100 "to nobody"
	stop "$socat"
	check poll_until 5 no_group "$ns_1" "$dev_1" "$group4"
	stop "$pid_1"
}

udp_bound()
{
	[ -n "$(ss -N "$1" -H -u -a -n "sport = :$2")" ]
}

# dropped_as_no_group COMMAND...: which sends, to link 1
dropped_as_no_group()
{
	local trace=/sys/kernel/tracing n

	mountpoint -q $trace || mount -t tracefs tracefs $trace
	echo >$trace/trace
	echo 1 >$trace/events/rxe/rxe_drop/enable
	n=$(counter "$link_1" drop_no_group)
	check "$@"
	check poll_until 5 counter_above "$link_1" drop_no_group "$n"
	echo 0 >$trace/events/rxe/rxe_drop/enable
	check grep -q "rxe_drop: dev=$link_1 qpn=16777215 reason=no_group" $trace/trace
}

# the multicast QPN in a packet to a unicast address
group_qpn_without_group()
{
	check up "$ns_2" "$dev_2" 10.34.0.99/24
	dropped_as_no_group in_ns "$ns_2" "$here/packets" valid 10.34.0.99 10.34.0.1 0xffffff
}

# a member's own number in a packet to the group; a wrong Q_Key
not_for_the_group()
{
	local n

	receiver 1 "$group4" 1 || return
	n=$(counter "$link_1" drop_qkey)
	send_from 2 "$group4" 1 100 "wrong Q_Key" 1 0x7
	check poll_until 5 counter_above "$link_1" drop_qkey "$n"
	n=$(counter "$link_1" drop_address)
	qpn=$(rdma resource show qp link "$link_1/1" | sed -n 's/.* lqpn \([0-9]*\) type UD.*/\1/p')
	check ip -n "$ns_2" route add "$group4" dev "$dev_2"
	check in_ns "$ns_2" "$here/packets" valid 10.34.0.99 "$group4" "$qpn"
	check ip -n "$ns_2" route del "$group4" dev "$dev_2"
	check poll_until 5 counter_above "$link_1" drop_address "$n"
	send_from 2 "$group4" 1 100 "right"
	check_got "$out_1" 1 right
	check_not file_has "$out_1" "wrong\|QPN"
	stop "$pid_1"
}

# hop limits: what is given, and 1 if nothing is
hop_limit()
{
	command -v nft >/dev/null || { skip "nft is not installed"; return; }
	check in_ns "$ns_1" nft -f - <<-END || return
		table ip t {
			chain c {
				type filter hook input priority 0;
				ip daddr $group4 udp dport 4791 ip ttl 1 counter comment "one"
				ip daddr $group4 udp dport 4791 ip ttl 9 counter comment "nine"
			}
		}
	END
	receiver 1 "$group4" 1 || return
	send_from 2 "$group4" 3 100 "by default" 0
	send_from 2 "$group4" 4 100 "nine hops" 9
	check_got "$out_1" 3 "by default"
	check_got "$out_1" 4 "nine hops"
	in_ns "$ns_1" nft list table ip t >"$tmp/nft"
	check grep -q 'ttl 1 counter packets [1-3] ' "$tmp/nft"
	check grep -q 'ttl 9 counter packets [1-4] ' "$tmp/nft" || diag_file "$tmp/nft"
	check in_ns "$ns_1" nft delete table ip t
	stop "$pid_1"
}

# A VLAN on the netdev has GIDs on the same link; its group is its own matter.
vlan_joins_too()
{
	local i group gid

	need_family "$1" || return
	for i in 1 2; do
		local -n ns=ns_$i dev=dev_$i
		check ip -n "$ns" link add "v7" link "$dev" type vlan id 7 || return
		check up "$ns" v7 "10.37.0.$i/24" "fd37::$i/64"
	done
	if [ "$1" = 4 ]; then
		find_gid gid "$link_1" 10.37.0.1
		find_gid gid "$link_2" 10.37.0.2
	else
		find_gid gid "$link_1" fd37::1
		find_gid gid "$link_2" fd37::2
	fi
	receiver 1 "$group" 2 || return
	check has_group "$ns_1" v7 "$group"
	check has_group "$ns_1" "$dev_1" "$group"
	check in_ns "$ns_2" "$here/multicast" send "$link_2" "$gid" "$group" 4 300 "in the VLAN"
	check_got "$out_1" 8 "300 bytes, in the VLAN"
	send_from 2 "$group" 2 300 "outside of it"
	check_got "$out_1" 4 "outside of it"
	# netdev goes, the QPs stay
	check ip -n "$ns_1" link del v7
	send_from 2 "$group" 1 300 "VLAN has gone"
	check_got "$out_1" 2 "VLAN has gone"
	stop "$pid_1"
	check ip -n "$ns_2" link del v7
	check no_group "$ns_1" "$dev_1" "$group"
}

# no address of the family: not joined; joined when there is one, and left
follows_the_addresses()
{
	receiver 3 "$group4" 1 || return
	check has_group "$ns_3" "$dev_3" "$group4"
	check ip -n "$ns_3" addr del 10.34.0.3/24 dev "$dev_3"
	check poll_until 5 no_group "$ns_3" "$dev_3" "$group4"
	check up "$ns_3" "$dev_3" 10.34.0.3/24
	check poll_until 5 has_group "$ns_3" "$dev_3" "$group4"
	send_from 2 "$group4" 1 100 "with a new address"
	check_got "$out_3" 1 "with a new address"
	stop "$pid_3"
	check no_group "$ns_3" "$dev_3" "$group4"
}

# a new MAC address: all GIDs go and come back
follows_the_mac_address()
{
	receiver 3 "$group4" 1 || return
	check ip -n "$ns_3" link set "$dev_3" address 02:00:00:00:33:03
	find_gid gid4_3 "$link_3" 10.34.0.3
	check poll_until 5 has_group "$ns_3" "$dev_3" "$group4"
	send_from 2 "$group4" 1 100 "new MAC"
	check_got "$out_3" 1 "new MAC"
	stop "$pid_3"
	find_gid gid6_3 "$link_3" fd34::3
}

wrong_use_is_refused()
{
	check in_ns "$ns_1" "$here/multicast" errors "$link_1" "$gid4_1"
}

# as another namespace's user without rights over this one
other_namespace_cannot_join()
{
	command -v unshare >/dev/null || { skip "unshare is not installed"; return; }
	check_not unshare --user --map-root-user --net "$here/multicast" receive "$link_1" \
		"$gid4_1" "$group4" 1 </dev/null
	check no_group "$ns_1" "$dev_1" "$group4"
}

# On a netdev of its own: it will be busy for a while with telling routers that
# it has left thousands of groups.
limits_are_true()
{
	local dummy link gid

	check setup_dummy dummy "$ns_1" && check up "$ns_1" "$dummy" 10.35.0.1/24
	check setup_link link "$ns_1" "$dummy" && find_gid gid "$link" 10.35.0.1 || return
	check in_ns "$ns_1" timeout 100 "$here/multicast" limits "$link" "$gid"
	check no_group "$ns_1" "$dummy" 239.77.0.2
	check no_group "$ns_1" "$dummy" 239.78.0.1
	check link_del "$link"
	check ip -n "$ns_1" link del "$dummy"
}

link_deletion_leaves()
{
	receiver 1 "$group4" 2 || return
	local pid=$pid_1
	! have_ipv6 || receiver 1 "$group6" 2 || return
	check takes_less "$prompt" link_del "$link_1"
	check no_group "$ns_1" "$dev_1" "$group4"
	check no_group "$ns_1" "$dev_1" "$group6"
	stop "$pid"
	stop "$pid_1"
	check setup_link link_1 "$ns_1" "$dev_1"
	find_gid gid4_1 "$link_1" 10.34.0.1
	! have_ipv6 || find_gid gid6_1 "$link_1" fd34::1
	check_active "$link_1"
}

netdev_deletion()
{
	receiver 3 "$group4" 1 || return
	check takes_less "$prompt" ip -n "$ns_3" link del "$dev_3"
	check soon link_gone "$link_3"
	stop "$pid_3"
}

namespace_deletion()
{
	receiver 2 "$group4" 1 || return
	# the process would keep the namespace
	start '' "$tmp/outside" 60 "$here/multicast" receive "$link_2" "$gid4_2" "$group4" 1
	check poll_until 10 file_has "$tmp/outside" ready
	local outside=$started
	stop "$pid_2"
	check delete_ns "$ns_2"
	check soon link_gone "$link_2"
	stop "$outside"
}

# with members
module_removal_leaves()
{
	receiver 1 "$group4" 2 || return
	check has_group "$ns_1" "$dev_1" "$group4"
	check unload_module
	check no_group "$ns_1" "$dev_1" "$group4"
	stop "$pid_1"
	check load_module
}

begin
run_tests \
	"mckey_works 239.33.0.1 10.34.0.1 10.34.0.2" \
	"mckey_works ff15::33:0 fd34::1 fd34::2" \
	"everybody_gets_it 4" "everybody_gets_it 6" \
	"bursts 4" "bursts 6" \
	"last_one_leaves 4" "last_one_leaves 6" \
	"killed_process_leaves 4" "killed_process_leaves 6" \
	foreign_membership_stays \
	group_qpn_without_group \
	not_for_the_group \
	hop_limit \
	"vlan_joins_too 4" "vlan_joins_too 6" \
	follows_the_addresses \
	follows_the_mac_address \
	wrong_use_is_refused \
	other_namespace_cannot_join \
	limits_are_true \
	link_deletion_leaves \
	netdev_deletion \
	namespace_deletion \
	module_removal_leaves
