#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an administrator asks for: `rdma resource show` with details of the driver,
# `rdma statistic`, the port's counters in sysfs and by management datagrams.

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

# hw_counters: "NAME VALUE" of link1, sorted
hw_counters()
{
	local file

	for file in "/sys/class/infiniband/$link1/ports/1/hw_counters/"*; do
		[ "${file##*/}" = lifespan ] || echo "${file##*/} $(counter "$link1" "${file##*/}")"
	done | sort
}

# all counters, with the values that sysfs has
statistic()
{
	check pingpong rc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 10 -s 4000
	check poll_until 5 statistic_is_sysfs || {
		diag_file "$tmp/statistic"
		diag_file "$tmp/hw_counters"
	}
	check file_has "$tmp/statistic" '^rdma_sends [1-9]'
	check file_has "$tmp/statistic" '^rdma_recvs [1-9]'
}

statistic_is_sysfs()
{
	hw_counters >"$tmp/hw_counters"
	rdma statistic show link "$link1/1" | tr -s ' \n' ' ' | sed 's/^ *link [^ ]* //' |
		xargs -n 2 | sort >"$tmp/statistic"
	cmp -s "$tmp/statistic" "$tmp/hw_counters"
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

# errors: of link2, $damaged packets, a port that goes down, three packets that a
# firewall does not let out
errors()
{
	helper packets && helper verbs || return
	command -v nft >/dev/null || { skip "nft is not installed"; return 1; }
	damaged=$(in_ns "$ns1" "$here/packets" icrc "$ip1" "$ip2" 1) || {
		fail "cannot send"
		return 1
	}
	check ip -n "$ns2" link set "$dev2" down
	check_state "$link2" DOWN
	check up "$ns2" "$dev2" "$ip6_2/64"
	check_active "$link2" && find_gid gid2 "$link2" "$ip2" || return
	check in_ns "$ns2" nft -f - <<-END || return
		table ip t {
			chain c {
				type filter hook output priority 0;
				udp dport 4791 drop
			}
		}
	END
	check timeout $((60 * slow)) "$here/verbs" provoke "$link2" "$gid2" "$link1" "$gid1" retries
	check in_ns "$ns2" nft delete table ip t
	check poll_until 5 counter_above "$link2" drop_icrc $((damaged - 1))
}

mad_counters()
{
	local before after found gid6 damaged=0

	helper pma || return
	# over IPv4 ib_mad takes no answer for one: it looks for GIDs where the IP header is
	have_ipv6 || { skip "no IPv6"; return; }
	find_gid gid6 "$link1" "$ip6_1" || return
	modprobe -q ib_umad
	[ -e /dev/infiniband/umad0 ] || { skip "no ib_umad"; return; }
	before=$(sysfs "$link2" port_xmit_data)
	errors || return
	"$here/pma" "$link1" "$gid6" "$ip6_2" >"$tmp/pma" 2>&1 || {
		fail "pma has failed"
		diag_file "$tmp/pma"
		diag "drops: $(drops "$link1") and $(drops "$link2")"
		return
	}
	after=$(sysfs "$link2" port_xmit_data)
	found=$(sed -n 's/^xmit_data //p' "$tmp/pma")
	check file_has "$tmp/pma" '^extended 1$'
	# what errors() has made, and all who tell agree
	check file_has "$tmp/pma" "^rcv_errors $damaged\$"
	check file_has "$tmp/pma" '^link_downed 1$'
	check file_has "$tmp/pma" '^xmit_discards 3$'
	check file_has "$tmp/pma" '^rcv_constraint_errors 0$'
	equal "$damaged" "$(sysfs "$link2" port_rcv_errors)" port_rcv_errors
	equal 1 "$(sysfs "$link2" link_downed)" link_downed
	equal 3 "$(sysfs "$link2" port_xmit_discards)" port_xmit_discards
	equal "$damaged" "$(counter "$link2" drop_icrc)" drop_icrc
	equal 3 "$(counter "$link2" send_err)" send_err
	check file_has "$tmp/pma" '^refused$'
	if [ "${found:-0}" -lt "$before" ] || [ "${found:-0}" -gt "$after" ]; then
		fail "xmit_data is $found, not from $before to $after"
	fi
}

begin
run_tests details srq_details statistic sysfs_counters mad_counters
