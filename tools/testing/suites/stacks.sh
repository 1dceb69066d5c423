#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What others build on the verbs: UCX, libfabric and Open MPI between two
# namespaces. Runs in a VM; KTAP.

suites=$(cd "$(dirname "$0")" && pwd)
. "${RDMA_SELFTESTS:-$suites/../selftests/rdma}/lib.sh"

pair_limit=90

setup()
{
	require script ucx_perftest fi_pingpong mpirun mpicc
	check setup_pair 4500
}

# ucx TRANSPORT TEST OPTION...
ucx()
{
	local env=("UCX_TLS=$1,ud_verbs:aux,self" UCX_LOG_LEVEL=error)

	shift
	port=$((port + 1))
	# without a terminal it takes itself for a process of MPI
	server=(env "${env[@]}" "UCX_NET_DEVICES=$link1:1" "UCX_IB_GID_INDEX=$gid1"
		script -q -e -c "ucx_perftest -p $port -t $*" /dev/null)
	client=(env "${env[@]}" "UCX_NET_DEVICES=$link2:1" "UCX_IB_GID_INDEX=$gid2"
		script -q -e -c "ucx_perftest -p $port $ip1 -t $*" /dev/null)
	check run_pair "$ns1" "$ns2" tcp_listens
}

rc_verbs() { ucx rc_verbs "$@"; }
ud_verbs() { ucx ud_verbs "$@"; }

# libfabric PROVIDER ENDPOINT OPTION...: -c compares the data
libfabric()
{
	fi_pingpong -h 2>&1 | grep -q -- ' -s <' || {
		skip "this fi_pingpong cannot be told an address"
		return
	}
	port=$((port + 1))
	server=(fi_pingpong -p "$1" -e "$2" -B "$port" -s "$ip1" -c "${@:3}")
	client=(fi_pingpong -p "$1" -e "$2" -P "$port" -s "$ip2" -c "${@:3}" "$ip1")
	check run_pair "$ns1" "$ns2" tcp_listens
}

# mpi OPTION...: one process on each link. Those of Open MPI's own network stay together
# in the initial namespace, from which both links can be used.
mpi()
{
	local before

	[ -x "$tmp/mpi_ring" ] || check mpicc -O1 -o "$tmp/mpi_ring" "$suites/mpi_ring.c" || return
	before=$(counter "$link1" sent_pkts)
	# shellcheck disable=SC2016 # for the inner shell
	check timeout $((120 * slow)) mpirun --allow-run-as-root -np 2 --map-by :OVERSUBSCRIBE \
		"$@" sh -c '
		link=$1
		[ "$OMPI_COMM_WORLD_RANK" = 0 ] || link=$2
		UCX_NET_DEVICES=$link:1 exec "$3"' sh "$link1" "$link2" "$tmp/mpi_ring"
	check counter_above "$link1" sent_pkts $((before + 300))
}

mpi_over_ucx()
{
	mpi --mca pml ucx --mca osc ucx -x "UCX_TLS=$1,ud_verbs:aux,self" \
		-x UCX_LOG_LEVEL=error -x "UCX_IB_GID_INDEX=$gid1"
}

begin
run_tests \
	"rc_verbs tag_lat -n 200 -s 8" \
	"rc_verbs tag_bw -n 100 -s 65536" \
	"rc_verbs ucp_put_bw -n 100 -s 65536" \
	"rc_verbs ucp_get -n 100 -s 65536" \
	"rc_verbs ucp_fadd -n 100 -s 8" \
	"rc_verbs ucp_cswap -n 100 -s 8" \
	"rc_verbs ucp_am_bw -n 100 -s 8192" \
	"ud_verbs tag_lat -n 200 -s 8" \
	"ud_verbs tag_bw -n 50 -s 65536" \
	"libfabric verbs;ofi_rxm rdm -I 20 -S all" \
	"libfabric verbs msg -I 20 -S all" \
	"mpi_over_ucx rc_verbs" \
	"mpi_over_ucx ud_verbs"
