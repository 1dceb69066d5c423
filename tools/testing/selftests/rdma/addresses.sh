#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Several addresses on a netdev, point-to-point addresses, policy routing, firewalls.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs || return
	check setup_pair 1500 || return
}

# family 4|6: addr1 and addr2 are the pair's addresses of that family, gid1 and gid2
# their indices
family()
{
	addr1=$ip1 addr2=$ip2 len=32
	if [ "$1" = 6 ]; then
		have_ipv6 || { skip "this kernel has no IPv6"; return 1; }
		addr1=$ip6_1 addr2=$ip6_2 len=128
	fi
	check find_gid gid1 "$link1" "$addr1" && check find_gid gid2 "$link2" "$addr2"
}

each_with_each()
{
	local a b

	for a in 10.16.1.1 10.16.1.2 10.16.2.1; do
		check up "$ns1" "$dev1" "$a/16"
	done
	for b in 10.16.1.11 10.16.2.12; do
		check up "$ns2" "$dev2" "$b/16"
	done
	for a in 10.16.1.1 10.16.1.2 10.16.2.1; do
		for b in 10.16.1.11 10.16.2.12; do
			exchange "$ns1" "$link1" "$a" "$ns2" "$link2" "$b"
		done
	done
	check ping "$ns1" 10.16.2.1 "$ns2" -C 3
}

# IPv6, where addresses come and go
each_with_each_ipv6()
{
	local a

	family 6 || return
	check up "$ns1" "$dev1" fd00:16:1::1/48 fd00:16:1::2/48 fe80::16:1/64
	check up "$ns2" "$dev2" fd00:16:1::11/48 fe80::16:2/64
	for a in fd00:16:1::1 fd00:16:1::2; do
		exchange "$ns1" "$link1" "$a" "$ns2" "$link2" fd00:16:1::11
	done
	exchange "$ns1" "$link1" fe80::16:1 "$ns2" "$link2" fe80::16:2
	check ip -n "$ns1" addr del fd00:16:1::1/48 dev "$dev1"
	check poll_until 5 no_gid "$link1" "$(gid_of fd00:16:1::1)"
	exchange "$ns1" "$link1" fd00:16:1::2 "$ns2" "$link2" fd00:16:1::11
	check up "$ns1" "$dev1" fd00:16:1::1/48
	exchange "$ns1" "$link1" fd00:16:1::1 "$ns2" "$link2" fd00:16:1::11
	check ping "$ns1" fd00:16:1::1 "$ns2" -C 3
}

# More addresses than the table has entries: those that fit work.
too_many_addresses()
{
	local dev link gid i batch=''

	check setup_dummy dev "$ns1" || return
	check up "$ns1" "$dev" 10.16.8.1/16
	check setup_link link "$ns1" "$dev" || return
	check find_gid gid "$link" 10.16.8.1 || return
	for ((i = 2; i < 1300; i++)); do
		batch+="addr add 10.16.$((8 + i / 250)).$((1 + i % 250))/16 dev $dev"$'\n'
	done
	check ip -n "$ns1" -batch - <<<"$batch"
	exchange "$ns1" "$link" 10.16.8.1 "$ns1" "$link" 10.16.8.1
	check takes_less 10000 ip -n "$ns1" link del "$dev"
	check poll_until 20 link_gone "$link"
}

# The RDMA core takes the peer's address for the netdev's: nobody can use that GID. IPv6
# has no such addresses.
point_to_point()
{
	local dev3 dev4 link3 link4 gid3

	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check ip -n "$ns1" addr add 10.16.90.1 peer 10.16.90.2 dev "$dev3"
	check ip -n "$ns2" addr add 10.16.90.2 peer 10.16.90.1 dev "$dev4"
	check up "$ns1" "$dev3" fd00:16:90::1/64 && check up "$ns2" "$dev4" fd00:16:90::2/64
	check setup_link link3 "$ns1" "$dev3" && check setup_link link4 "$ns2" "$dev4" || return
	if poll_until 2 gid_index "$link3" "$(gid_of 10.16.90.1)"; then
		exchange "$ns1" "$link3" 10.16.90.1 "$ns2" "$link4" 10.16.90.2
	else
		check find_gid gid3 "$link3" 10.16.90.2 || return
		in_ns "$ns1" "$here/verbs" try_gid "$link3" "$gid3" EINVAL >"$tmp/try" 2>&1
		check file_has "$tmp/try" "^modify_qp: (EINVAL|Network is unreachable)"
	fi
	! have_ipv6 || exchange "$ns1" "$link3" fd00:16:90::1 "$ns2" "$link4" fd00:16:90::2
	check link_del "$link3"
	check link_del "$link4"
}

# uses NETDEV COMMAND...: packets leave ns1 by it
uses()
{
	local dev=$1 before

	shift
	before=$(in_ns "$ns1" cat "/sys/class/net/$dev/statistics/tx_bytes")
	"$@"
	[ "$(in_ns "$ns1" cat "/sys/class/net/$dev/statistics/tx_bytes")" -gt $((before + 20000)) ] ||
		fail "packets have not left by $dev"
}

# policy_routing 4|6: a rule for the source address, and one for RoCE's port, send
# another way.
policy_routing()
{
	local dev3 dev4 a1=10.16.20.1 a2=10.16.20.2 addr1 addr2 len rule data

	family "$1" || return
	[ "$1" = 4 ] || a1=fd00:16:20::1 a2=fd00:16:20::2
	check setup_veth dev3 "$ns1" dev4 "$ns2" || return
	check up "$ns1" "$dev3" && check up "$ns2" "$dev4" || return
	check up "$ns1" "$dev1" "$a1/$len" && check up "$ns2" "$dev2" "$a2/$len"
	check ip -n "$ns1" route add "$a2/$len" dev "$dev1"
	check ip -n "$ns1" route add "$a2/$len" dev "$dev3" table 77
	check ip -n "$ns2" route add "$a1/$len" dev "$dev2"
	# IPv6 does not ask for an address of another netdev
	check ip -n "$ns1" neigh replace "$a2" dev "$dev3" nud permanent \
		lladdr "$(in_ns "$ns2" cat "/sys/class/net/$dev4/address")"
	rule=(ip -n "$ns1" "-$1" rule)
	data=(exchange "$ns1" "$link1" "$a1" "$ns2" "$link2" "$a2")
	uses "$dev1" "${data[@]}"
	check "${rule[@]}" add from "$a1" lookup 77
	uses "$dev3" "${data[@]}"
	check "${rule[@]}" del from "$a1" lookup 77
	uses "$dev1" "${data[@]}"
	check "${rule[@]}" add ipproto udp dport 4791 lookup 77
	uses "$dev3" "${data[@]}"
	check "${rule[@]}" del ipproto udp dport 4791 lookup 77
	check ip -n "$ns1" link del "$dev3"
}

# route_refuses 4|6 ROUTE-TYPE: under traffic
route_refuses()
{
	local addr1 addr2 len refused

	family "$1" && start_intact || return
	refused=$(counter "$link1" send_err)
	check ip -n "$ns1" route add "$2" "$addr2/$len"
	check poll_until 10 counter_above "$link1" send_err "$refused"
	check ip -n "$ns1" route del "$2" "$addr2/$len"
	check flows
	ends_intact
}

start_stream()
{
	stream_out=$tmp/stream.$((out_nr += 1))
	start '' "$stream_out" 60 "$here/verbs" stream "$link1" "$gid1" "$link2" "$gid2" "$@"
	stream=$started
	check poll_until 15 file_has "$stream_out" ready || { diag_file "$stream_out"; return 1; }
}

flows()
{
	local n

	n=$(counter "$link1" rcvd_pkts)
	poll_until 10 counter_above "$link1" rcvd_pkts $((n + 50))
}

# firewall 4|6 HOOK VERDICT...: for a while, then for ever
firewall()
{
	local hook=$2 addr1 addr2 len

	command -v nft >/dev/null || { skip "nft is not installed"; return; }
	family "$1" && start_intact || return
	shift 2
	nft_rule "$hook" "$@" || { stop "$intact"; return; }
	sleep 0.2
	check in_ns "$ns1" nft delete table inet t
	check flows
	ends_intact
	start_stream || return
	nft_rule "$hook" "$@"
	check ends "$stream" 40 || diag_file "$stream_out"
	check file_has "$stream_out" "^error: transport retry counter exceeded"
	check in_ns "$ns1" nft delete table inet t
	exchange "$ns1" "$link1" "$addr1" "$ns2" "$link2" "$addr2"
}

nft_rule()
{
	local hook=$1

	shift
	in_ns "$ns1" nft -f - >"$tmp/nft" 2>&1 <<-RULES || { skip "nft: $(head -n 1 "$tmp/nft")"; return 1; }
		table inet t {
			chain c {
				type filter hook $hook priority 0;
				udp dport 4791 $*
			}
		}
	RULES
}

begin
run_tests \
	each_with_each each_with_each_ipv6 \
	too_many_addresses \
	point_to_point \
	"policy_routing 4" "policy_routing 6" \
	"route_refuses 4 unreachable" "route_refuses 4 blackhole" "route_refuses 4 prohibit" \
	"route_refuses 6 unreachable" \
	"firewall 4 input drop" \
	"firewall 4 output drop" \
	"firewall 4 input reject" "firewall 6 input reject" \
	"firewall 4 output reject" "firewall 6 output reject"
