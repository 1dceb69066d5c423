#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Links on netdevs without Ethernet: tun, WireGuard, tunnels of IP in IP and GRE, over
# IPv4 and IPv6; and ipvlan in modes L3 and L3S.

. "$(dirname "$0")/lib.sh"

setup()
{
	helper verbs
}

# wire: two new namespaces, a veth pair between them with addresses
wire()
{
	check new_ns ns1 ns2 && check setup_veth dev1 "$ns1" dev2 "$ns2" || return
	check up "$ns1" "$dev1" 10.13.1.1/24 fd00:13:1::1/64 &&
		check up "$ns2" "$dev2" 10.13.1.2/24 fd00:13:1::2/64
}

# rping both ways, where rdma_cm knows netdevs without a MAC address: not in 6.x
connect()
{
	case $(uname -r) in 6.*) return ;; esac
	check ping "$ns1" "$ip1" "$ns2" -C 3
	check ping "$ns2" "$ip2" "$ns1" -C 3
}

# An address that comes when the link is there can be used, one that goes cannot.
addresses_come_and_go() # NETDEV1 NETDEV2
{
	local gid1

	check up "$ns1" "$1" 10.13.2.1/24 && check up "$ns2" "$2" 10.13.2.2/24 || return
	exchange "$ns1" "$link1" 10.13.2.1 "$ns2" "$link2" 10.13.2.2
	check find_gid gid1 "$link1" 10.13.2.1 || return
	check ip -n "$ns1" addr del 10.13.2.1/24 dev "$1"
	# the core may keep the GID, but nobody can use it
	if gid_index "$link1" "$(gid_of 10.13.2.1)"; then
		in_ns "$ns1" "$here/verbs" try_gid "$link1" "$gid1" EINVAL >"$tmp/try" 2>&1
		check file_has "$tmp/try" "^modify_qp: (EINVAL|Network is unreachable)"
	fi
	exchange "$ns1" "$link1" "$ip1" "$ns2" "$link2" "$ip2"
}

tun()
{
	setup_tun tun || return
	exchange_on "$ns1" tun0 "$ns2" tun0 -
	connect
	addresses_come_and_go tun0 tun0
	end_tun
}

wireguard()
{
	local i ns other

	command -v wg >/dev/null || { skip "wg is not installed"; return; }
	wire || return
	for i in 1 2; do
		ns=ns$i
		add_netdev "${!ns}" wg0 type wireguard || return
		(umask 077; wg genkey >"$tmp/key$i")
	done
	for i in 1 2; do
		ns=ns$i other=$((3 - i))
		check in_ns "${!ns}" wg set wg0 listen-port 51820 private-key "$tmp/key$i" \
			peer "$(wg pubkey <"$tmp/key$other")" endpoint "10.13.1.$other:51820" \
			allowed-ips 0.0.0.0/0,::/0 || return
	done
	exchange_on "$ns1" wg0 "$ns2" wg0 -
	connect
	addresses_come_and_go wg0 wg0
	unlink_both
}

# tunnel KIND [OPTION...]
tunnel()
{
	local kind=$1 outer=10.13.1. inner=10.13.3. len=24

	shift
	case $kind in
	ip6*)
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		outer=fd00:13:1:: ;;
	sit)
		have_ipv6 || { skip "this kernel has no IPv6"; return; }
		inner=fd00:13:3:: len=64 ;;
	esac
	wire || return
	add_netdev "$ns1" t0 type "$kind" local "${outer}1" remote "${outer}2" "$@" || return
	add_netdev "$ns2" t0 type "$kind" local "${outer}2" remote "${outer}1" "$@" || return
	if [[ $kind = ipip || $kind = sit && $# -eq 0 ]]; then
		# one family alone
		ip1=${inner}1 ip2=${inner}2
		check up "$ns1" t0 "$ip1/$len" && check up "$ns2" t0 "$ip2/$len" || return
		check setup_link link1 "$ns1" t0 && check setup_link link2 "$ns2" t0 || return
		exchange "$ns1" "$link1" "$ip1" "$ns2" "$link2" "$ip2"
	else
		exchange_on "$ns1" t0 "$ns2" t0 -
	fi
	connect
	unlink_both
}

# ipvlan MODE: the parent's namespace routes
ipvlan()
{
	local ns3

	wire || return
	check setup_ns ns3 || return
	add_netdev "$ns1" ipv0 link "$dev1" netns "$ns3" type ipvlan mode "$1" || return
	check up "$ns3" ipv0 10.13.4.1/32 fd00:13:4::1/128
	check ip -n "$ns3" route add default dev ipv0
	check ip -n "$ns2" route add 10.13.4.1/32 via 10.13.1.1
	! have_ipv6 || {
		check ip -n "$ns3" -6 route add default dev ipv0
		check ip -n "$ns2" route add fd00:13:4::1/128 via fd00:13:1::1
	}
	check setup_link link1 "$ns3" ipv0 && check setup_link link2 "$ns2" "$dev2" || return
	exchange "$ns3" "$link1" 10.13.4.1 "$ns2" "$link2" 10.13.1.2
	check ping "$ns3" 10.13.4.1 "$ns2" -C 3
	! have_ipv6 || {
		exchange "$ns3" "$link1" fd00:13:4::1 "$ns2" "$link2" fd00:13:1::2
		check ping "$ns3" fd00:13:4::1 "$ns2" -C 3
	}
	unlink_both
}

begin
run_tests \
	tun \
	wireguard \
	"tunnel gre" \
	"tunnel ipip" \
	"tunnel sit" "tunnel sit mode any" \
	"tunnel ip6tnl mode any" \
	"tunnel ip6gre" \
	"ipvlan l3" \
	"ipvlan l3s"
