#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The programs of ibverbs-utils, rdmacm-utils and qperf between two namespaces.
# Runs in a VM; KTAP.

. "${RDMA_SELFTESTS:-$(dirname "$0")/../selftests/rdma}/lib.sh"

pair_limit=60

setup()
{
	require ibv_rc_pingpong ibv_devinfo rping ucmatose qperf
	check setup_pair 4500
}

#
# ibverbs-utils
#

ibv()
{
	check pingpong "$1" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "${@:2}"
}

ibv_rc_pingpong() { ibv rc -n 200 "$@"; }
ibv_uc_pingpong() { ibv uc -n 200 "$@"; }
ibv_ud_pingpong() { ibv ud -n 200 "$@"; }
ibv_srq_pingpong() { ibv srq -n 200 "$@"; }

own_address()
{
	check pingpong "$1" "$ns1" "$link1" "$gid1" "$ns1" "$link1" "$gid1" "$ip1" -n 50
}

over_IPv6()
{
	local g1 g2

	have_ipv6 || { skip "no IPv6"; return; }
	check find_gid g1 "$link1" "$ip6_1" && check find_gid g2 "$link2" "$ip6_2" || return
	check pingpong "$1" "$ns1" "$link1" "$g1" "$ns2" "$link2" "$g2" "$ip1" -n 50
}

ibv_devinfo()
{
	local out=$tmp/devinfo

	check in_ns "$ns1" ibv_devinfo -d "$link1" -v
	in_ns "$ns1" ibv_devinfo -d "$link1" -v >"$out"
	check file_has "$out" "transport:.*InfiniBand"
	check file_has "$out" "state:.*PORT_ACTIVE"
	check file_has "$out" "active_mtu:.*4096"
	check file_has "$out" "link_layer:.*Ethernet"
	check file_has "$out" "GID\[ *$gid1\]:.*RoCE v2"
	check file_has "$out" "node_guid:.*[1-9a-f]"
	check in_ns "$ns1" ibv_devices
}

ibv_asyncwatch()
{
	local out=$tmp/asyncwatch

	start "$ns1" "$out" 60 stdbuf -oL ibv_asyncwatch -d "$link1"
	check poll_until 15 file_has "$out" "async event FD"
	check ip -n "$ns1" link set "$dev1" down
	check poll_until 10 file_has "$out" PORT_ERR
	check ip -n "$ns1" link set "$dev1" up
	check poll_until 10 file_has "$out" PORT_ACTIVE
	up "$ns1" "$dev1" "$ip6_1/64" 2>/dev/null
	check poll_until 10 file_has "$out" GID_CHANGE
	stop "$started"
	check_active "$link1"
	check find_gid gid1 "$link1" "$ip1"
	check poll_until 10 answers "$ns2" "$ip1"
}

#
# rdmacm-utils
#

# cm PROGRAM "SERVER-OPTIONS" CLIENT-OPTION...
cm()
{
	local program=$1 server_options=$2

	shift 2
	port=$((port + 1))
	# shellcheck disable=SC2206 # several words
	server=("$program" $server_options -p "$port")
	client=("$program" "$@" -p "$port")
	check run_pair "$ns1" "$ns2" cm_listens
}

# ud_pair "SERVER-OPTIONS" CLIENT-OPTION...: its port is fixed
ud_pair()
{
	local port=7174

	# shellcheck disable=SC2206 # several words
	server=(udaddy $1)
	client=(udaddy "${@:2}")
	check run_pair "$ns1" "$ns2" cm_listens
}

rping_IPv4() { check ping "$ns1" "$ip1" "$ns2" -C 20 -S 4096; }
rping_IPv6() { check ping "$ns1" "$ip6_1" "$ns2" -C 20 -S 4096; }
rping_own_address() { check ping "$ns1" "$ip1" "$ns1" -C 20; }
rping_own_IPv6_address() { check ping "$ns1" "$ip6_1" "$ns1" -C 20; }

ucmatose() { cm ucmatose "-b $ip1" -s "$ip1" "$@"; }
ucmatose_options() { cm ucmatose "-b $ip1 -c 5 -C 20 -S 3000" -s "$ip1" -c 5 -C 20 -S 3000; }
ucmatose_IPv6() { cm ucmatose "-b $ip6_1 -f ip6" -s "$ip6_1" -f ip6; }
udaddy_many() { ud_pair "-b $ip1 -c 3 -C 20 -S 1000" -s "$ip1" -c 3 -C 20 -S 1000; }
udaddy_IPv6() { ud_pair "-b $ip6_1" -s "$ip6_1"; }

rstream_sizes() { cm rstream "-b $ip1 -S all -C 5" -s "$ip1" -S all -C 5; }
rstream_verify() { cm rstream "-b $ip1 -T v -S 10000 -C 50" -s "$ip1" -T v -S 10000 -C 50; }
rstream_nonblocking() { cm rstream "-b $ip1 -T n -T v -S 10000" -s "$ip1" -T n -T v -S 10000; }
riostream() { cm riostream "-b $ip1 -S 4096 -C 20" -s "$ip1" -S 4096 -C 20; }
# no udpong: rconnect() of datagram sockets finds no path over RoCE, whatever the driver

rdma_server_and_client()
{
	port=$((port + 1))
	server=(rdma_server -s "$ip1" -p "$port")
	client=(rdma_client -s "$ip1" -p "$port")
	check run_pair "$ns1" "$ns2" cm_listens
}

# the server of rdma-core 44 does not end
cmtime()
{
	local server_pid

	port=$((port + 1))
	start "$ns1" "$tmp/cmtime" 60 cmtime -b "$ip1" -c 20 -p "$port"
	server_pid=$started
	check poll_until 15 cm_listens "$ns1" "$port"
	check in_ns "$ns2" timeout 60 cmtime -s "$ip1" -c 20 -p "$port"
	stop "$server_pid"
}

#
# qperf: its UD tests know no GIDs, without which there is no RoCE
#

qperf()
{
	local server_pid try status

	port=$((port + 1))
	start "$ns1" "$tmp/qperf.server" 250 qperf -lp "$port"
	server_pid=$started
	check poll_until 15 tcp_listens "$ns1" "$port"
	# its server says that it is ready before it listens for the CM: on a busy machine
	# the client comes first, and is rejected
	for try in 1 2 3; do
		status=0
		in_ns "$ns2" timeout 90 qperf -lp "$port" "$ip1" -t 1 "$@" >"$tmp/qperf" 2>&1 ||
			status=$?
		grep -q "RDMA CM: Event rejected" "$tmp/qperf" || break
		diag "attempt $try: rejected"
	done
	[ "$status" -eq 0 ] || fail "qperf $*: status $status"
	# "bw  =  1.2 GB/sec" or "latency  =  50 us", one for each test
	grep -qE '= +[1-9]' "$tmp/qperf" || fail "qperf $*: no result"
	! grep -qiE 'failed|error|mismatch' "$tmp/qperf" || fail "qperf $*: an error"
	[ -z "$failed" ] || diag_file "$tmp/qperf"
	stop "$server_pid"
}

begin
run_tests \
	ibv_devinfo \
	ibv_rc_pingpong \
	"ibv_rc_pingpong -e -s 65536" \
	"ibv_rc_pingpong -m 256 -s 10000 -c" \
	"own_address rc" \
	"over_IPv6 rc" \
	ibv_uc_pingpong \
	"ibv_uc_pingpong -e -s 65536" \
	"own_address uc" \
	"over_IPv6 uc" \
	ibv_ud_pingpong \
	"ibv_ud_pingpong -e -s 1024" \
	"own_address ud" \
	"over_IPv6 ud" \
	"ibv_srq_pingpong -q 4" \
	"ibv_srq_pingpong -q 4 -e -s 10000" \
	"own_address srq" \
	"over_IPv6 srq" \
	ibv_asyncwatch \
	rping_IPv4 \
	rping_IPv6 \
	rping_own_address \
	rping_own_IPv6_address \
	ucmatose \
	ucmatose_options \
	ucmatose_IPv6 \
	udaddy_many \
	udaddy_IPv6 \
	rstream_sizes \
	rstream_verify \
	rstream_nonblocking \
	riostream \
	rdma_server_and_client \
	cmtime \
	"qperf -cm 1 rc_lat rc_bw" \
	"qperf -cm 1 rc_rdma_read_lat rc_rdma_read_bw" \
	"qperf -cm 1 rc_rdma_write_lat rc_rdma_write_bw rc_rdma_write_poll_lat" \
	"qperf -cm 1 rc_bi_bw" \
	"qperf -cm 1 rc_compare_swap_mr rc_fetch_add_mr" \
	"qperf -cm 1 ver_rc_compare_swap ver_rc_fetch_add"
