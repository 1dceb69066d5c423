#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an administrator asks for: `rdma resource show` with details of the driver,
# the port's counters in sysfs and by management datagrams.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

# show OBJECT: what the driver tells of those of link1, or of both links
show()
{
	local filter=()

	[ "$1" != qp ] || filter=(link "$link1")
	rdma -dd resource show "$1" "${filter[@]}" >"$tmp/show" 2>&1 || {
		fail "rdma resource show $1: $(head -c 300 "$tmp/show")"
		return 1
	}
}

# shows NAME VALUE: on a line that is not the kernel's own
shows()
{
	file_has "$tmp/show" "drv_$1 $2( |\$)" || {
		fail "drv_$1 is not $2"
		diag_file "$tmp/show"
	}
}

# hold TEST: an idle process that has objects
hold()
{
	helper verbs || return
	start '' "$tmp/hold" 60 "$here/verbs" "$1" "$link1" "$gid1" sleep
	check poll_until 10 file_has "$tmp/hold" ready
}

details()
{
	hold hold || return
	show qp && shows rq_posted 1 && shows sq_posted 0 && shows rq_size 127
	show cq && shows pending 0 && shows overflowed 0
	show mr && shows access 0x7
	stop "$started"
}

srq_details()
{
	hold hold_srq || return
	show srq
	# Linux 6.1 does not ask the driver
	if file_has "$tmp/show" drv_; then
		shows posted 3 && shows limit 2 && shows size 15
	else
		skip "this kernel has no details of SRQs"
	fi
	stop "$started"
}

# sysfs LINK NAME
sysfs()
{
	local value=

	{ read -r value <"/sys/class/infiniband/$1/ports/1/counters/$2"; } 2>/dev/null
	echo "$value"
}

same_counters()
{
	[ "$(sysfs "$link1" port_xmit_data)" = "$(sysfs "$link2" port_rcv_data)" ] &&
	[ "$(sysfs "$link2" port_xmit_data)" = "$(sysfs "$link1" port_rcv_data)" ] &&
	[ "$(sysfs "$link1" port_xmit_packets)" = "$(sysfs "$link2" port_rcv_packets)" ] &&
	[ "$(sysfs "$link2" port_xmit_packets)" = "$(sysfs "$link1" port_rcv_packets)" ]
}

sysfs_counters()
{
	local before

	before=$(sysfs "$link2" port_rcv_data)
	[ -n "$before" ] || { fail "no counters in sysfs"; return; }
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 100 -s 4000
	check poll_until 5 same_counters
	# 100 messages each way, in words of four bytes
	[ "$(sysfs "$link2" port_rcv_data)" -ge $((before + 100000)) ] ||
		fail "port_rcv_data went from $before to $(sysfs "$link2" port_rcv_data)"
	equal 0 "$(sysfs "$link1" port_rcv_errors)" port_rcv_errors
	equal 0 "$(sysfs "$link1" port_xmit_discards)" port_xmit_discards
}

mad_counters()
{
	local before after found gid6

	helper pma || return
	# over IPv4 ib_mad takes no answer for one: it looks for GIDs where the IP header is
	have_ipv6 || { skip "no IPv6"; return; }
	find_gid gid6 "$link1" "$ip6_1" || return
	modprobe -q ib_umad
	[ -e /dev/infiniband/umad0 ] || { skip "no ib_umad"; return; }
	before=$(sysfs "$link2" port_xmit_data)
	"$here/pma" "$link1" "$gid6" "$ip6_2" >"$tmp/pma" 2>&1 || {
		fail "pma has failed"
		diag_file "$tmp/pma"
		diag "drops: $(drops "$link1") and $(drops "$link2")"
		return
	}
	after=$(sysfs "$link2" port_xmit_data)
	found=$(sed -n 's/^xmit_data //p' "$tmp/pma")
	check file_has "$tmp/pma" '^extended 1$'
	check file_has "$tmp/pma" '^refused$'
	if [ "${found:-0}" -lt "$before" ] || [ "${found:-0}" -gt "$after" ]; then
		fail "xmit_data is $found, not from $before to $after"
	fi
}

begin
run_tests details srq_details sysfs_counters mad_counters
