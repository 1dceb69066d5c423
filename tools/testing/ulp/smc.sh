#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SMC-R, version 2, between two namespaces: sockets like TCP's whose data goes by
# RDMA WRITE into buffers that are registered by REG_MR.

. "$(dirname "$0")/ulp.sh"

pair_limit=100
sockets=$(dirname "$0")/smc_sockets.py

setup()
{
	check setup_pair 4500 || return
	check python3 "$sockets" eid RXE-TEST || return
	check ping_each_other
}

# both have a neighbour then
ping_each_other()
{
	in_ns "$ns1" ping -q -c 1 "$ip2"
}

ulp_down()
{
	return 0
}

listens()
{
	[ -n "$(ss -N "$1" -H -l -t -n "sport = :$2")" ] || file_has "$tmp/serve" listens
}

# echo_data: and it went over the links
echo_data()
{
	local before sent

	before=$(counter "$link2" sent_pkts)
	port=$((port + 1))
	server=(python3 "$sockets" serve "$ip1" "$port")
	client=(python3 "$sockets" connect "$ip1" "$port")
	check run_pair "$ns1" "$ns2" listens || return
	sent=$(($(counter "$link2" sent_pkts) - before))
	if [ "$sent" -lt 1000 ] && [[ $(uname -r) == 6.1.* ]]; then
		# smc_ib_find_route() of this version knows the initial namespace alone
		skip "SMC-R of Linux 6.1 does not look at other namespaces, and went back to TCP"
		return
	fi
	[ "$sent" -ge 1000 ] || fail "$sent packets went over $link2: SMC has gone back to TCP"
}

with_loss()
{
	check tc -n "$ns1" qdisc replace dev "$dev1" root netem limit 10000 loss 1% || return
	echo_data
	check tc -n "$ns1" qdisc del dev "$dev1" root
}

require python3
require_modules smc
begin
run_tests \
	echo_data \
	with_loss
