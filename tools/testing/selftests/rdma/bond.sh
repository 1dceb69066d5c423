#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on bonds and teams: traffic survives a failover, packets leave by the port
# that is active.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs
}

# two_wires: two new namespaces, two veth pairs between them, down
two_wires()
{
	check setup_ns ns1 ns2 || return
	check setup_veth dev1a "$ns1" dev2a "$ns2" && check setup_veth dev1b "$ns1" dev2b "$ns2"
}

sent_by()
{
	in_ns "$ns1" cat "/sys/class/net/$1/statistics/tx_bytes"
}

# leave_by NETDEV: the stream's packets do, soon
leave_by()
{
	local before

	before=$(sent_by "$1")
	poll_until 10 sent_more_than "$1" $((before + 100000))
}

sent_more_than()
{
	[ "$(sent_by "$1")" -gt "$2" ]
}

# bond MODE
bond()
{
	local i ns

	two_wires || return
	for i in 1 2; do
		ns=ns$i
		add_netdev "${!ns}" bond0 type bond mode "$1" miimon 20 || return
	done
	check ip -n "$ns1" link set "$dev1a" master bond0 && check ip -n "$ns1" link set "$dev1b" master bond0
	check ip -n "$ns2" link set "$dev2a" master bond0 && check ip -n "$ns2" link set "$dev2b" master bond0
	exchange_on "$ns1" bond0 "$ns2" bond0 || return
	find_gid gid1 "$link1" "$ip1" && find_gid gid2 "$link2" "$ip2" && start_intact || return
	[ "$1" != active-backup ] || {
		check in_ns "$ns1" sh -c "echo $dev1a >/sys/class/net/bond0/bonding/active_slave"
		check in_ns "$ns2" sh -c "echo $dev2a >/sys/class/net/bond0/bonding/active_slave"
	}
	check leave_by "$dev1a"
	# both ends lose the carrier
	check ip -n "$ns1" link set "$dev1a" down
	check leave_by "$dev1b"
	check ip -n "$ns1" link set "$dev1a" up
	ends_intact
	check has_state "$link1" ACTIVE
	check ip -n "$ns1" link set "$dev1a" down
	check ip -n "$ns1" link set "$dev1b" down
	check_state "$link1" DOWN
	check ip -n "$ns1" link set "$dev1b" up
	check_active "$link1"
	exchange "$ns1" "$link1" "$ip1" "$ns2" "$link2" "$ip2"
	# a port that leaves, and the bond itself
	check ip -n "$ns1" link set "$dev1b" nomaster
	check ip -n "$ns1" link del bond0
	check soon link_gone "$link1"
	check_soon_open_only_in "$ns2"
	check link_del "$link2"
}

# The links are on the ports: the one that is active has the bond's address.
links_on_the_ports()
{
	local link_a link_b

	two_wires || return
	add_netdev "$ns1" bond0 type bond mode active-backup miimon 20 || return
	check ip -n "$ns1" link set "$dev1a" master bond0 && check ip -n "$ns1" link set "$dev1b" master bond0
	add_netdev "$ns2" br0 type bridge || return
	check ip -n "$ns2" link set "$dev2a" master br0 up && check ip -n "$ns2" link set "$dev2b" master br0 up
	check up "$ns1" bond0 10.14.1.1/24 && check up "$ns2" br0 10.14.1.2/24 || return
	check setup_link link_a "$ns1" "$dev1a" && check setup_link link_b "$ns1" "$dev1b" || return
	check setup_link link2 "$ns2" br0 || return
	check in_ns "$ns1" sh -c "echo $dev1a >/sys/class/net/bond0/bonding/active_slave"
	check poll_until 10 answers "$ns1" 10.14.1.2
	exchange "$ns1" "$link_a" 10.14.1.1 "$ns2" "$link2" 10.14.1.2
	check poll_until 5 no_gid "$link_b" "$(gid_of 10.14.1.1)"
	check in_ns "$ns1" sh -c "echo $dev1b >/sys/class/net/bond0/bonding/active_slave"
	check poll_until 10 answers "$ns1" 10.14.1.2
	exchange "$ns1" "$link_b" 10.14.1.1 "$ns2" "$link2" 10.14.1.2
	check poll_until 5 no_gid "$link_a" "$(gid_of 10.14.1.1)"
	check link_del "$link_a"
	check link_del "$link_b"
	check link_del "$link2"
}

vlan_on_a_bond()
{
	local i ns dev

	two_wires || return
	for i in 1 2; do
		ns=ns$i dev=dev${i}a
		add_netdev "${!ns}" bond0 type bond mode active-backup miimon 20 || return
		check ip -n "${!ns}" link set "${!dev}" master bond0
		check up "${!ns}" bond0
		add_netdev "${!ns}" v5 link bond0 type vlan id 5 || return
	done
	exchange_on "$ns1" v5 "$ns2" v5
	unlink_both
}

# add_port NAMESPACE NETDEV: to team0, with its MAC address, as teamd would do: else IP takes
# what comes for somebody else's
add_port()
{
	check ip -n "$1" link set "$2" address "$(in_ns "$1" cat /sys/class/net/team0/address)"
	check ip -n "$1" link set "$2" master team0
}

active_port()
{
	check in_ns "$1" teamnl team0 setoption activeport \
		"$(in_ns "$1" cat "/sys/class/net/$2/ifindex")"
}

team()
{
	local i ns

	command -v teamnl >/dev/null || { skip "teamnl is not installed"; return; }
	two_wires || return
	for i in 1 2; do
		ns=ns$i
		add_netdev "${!ns}" team0 type team || return
		in_ns "${!ns}" teamnl team0 setoption mode activebackup >"$tmp/team" 2>&1 || {
			skip "no team mode activebackup: $(head -n 1 "$tmp/team")"
			return
		}
	done
	add_port "$ns1" "$dev1a" && add_port "$ns1" "$dev1b" || return
	add_port "$ns2" "$dev2a" && add_port "$ns2" "$dev2b" || return
	check up "$ns1" team0 && check up "$ns2" team0
	active_port "$ns1" "$dev1a" && active_port "$ns2" "$dev2a" || return
	exchange_on "$ns1" team0 "$ns2" team0 || return
	find_gid gid1 "$link1" "$ip1" && find_gid gid2 "$link2" "$ip2" && start_intact || return
	check leave_by "$dev1a"
	active_port "$ns1" "$dev1b" && active_port "$ns2" "$dev2b"
	check leave_by "$dev1b"
	ends_intact
	unlink_both
}

begin
run_tests \
	"bond active-backup" \
	"bond balance-rr" \
	links_on_the_ports \
	vlan_on_a_bond \
	team
