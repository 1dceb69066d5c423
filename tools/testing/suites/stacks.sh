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
	require ucx_perftest fi_pingpong mpirun mpicc
	check setup_pair 4500
}

# ucx TRANSPORT TEST OPTION...
ucx()
{
	local env=("UCX_TLS=$1,self" UCX_IB_ROCE_REACHABILITY_MODE=all UCX_LOG_LEVEL=error)

	shift
	port=$((port + 1))
	server=(env "${env[@]}" "UCX_NET_DEVICES=$link1:1" "UCX_IB_GID_INDEX=$gid1"
		ucx_perftest -p "$port" -t "$@")
	client=(env "${env[@]}" "UCX_NET_DEVICES=$link2:1" "UCX_IB_GID_INDEX=$gid2"
		ucx_perftest -p "$port" "$ip1" -t "$@")
	check run_pair "$ns1" "$ns2" tcp_listens
}

rc_verbs() { ucx rc_verbs "$@"; }
ud_verbs() { ucx ud_verbs "$@"; }

# libfabric PROVIDER ENDPOINT OPTION...: -c compares the data
libfabric()
{
	port=$((port + 1))
	server=(fi_pingpong -p "$1" -e "$2" -B "$port" -s "$ip1" -c "${@:3}")
	client=(fi_pingpong -p "$1" -e "$2" -P "$port" -s "$ip2" -c "${@:3}" "$ip1")
	check run_pair "$ns1" "$ns2" tcp_listens
}

# Open MPI takes two hosts: each namespace gets a hostname too.
mpi_agent()
{
	cat >"$tmp/agent" <<-END
		#!/bin/bash
		# HOST COMMAND...
		shift
		exec ip netns exec $ns2 unshare -u sh -c 'hostname mpi2; exec sh -c "\$1"' sh "\$*"
	END
	chmod +x "$tmp/agent"
}

# mpi PROGRAM-OPTIONS: -x, --mca ...
mpi()
{
	[ -x "$tmp/mpi_ring" ] || check mpicc -O1 -o "$tmp/mpi_ring" "$suites/mpi_ring.c" || return
	mpi_agent
	# shellcheck disable=SC2016 # for the inner shell
	check timeout $((120 * slow)) ip netns exec "$ns1" unshare -u sh -c '
		hostname mpi1
		exec "$@"' sh \
		mpirun --allow-run-as-root -np 2 --host "$ip1,$ip2" --map-by node \
		--mca plm_rsh_agent "$tmp/agent" --mca oob_tcp_if_include "${ip1%.*}.0/24" \
		--mca btl_tcp_if_include "${ip1%.*}.0/24" "$@" "$tmp/mpi_ring"
}

# The links are named for what they are on: UCX wants one name for both ends.
mpi_over_ucx()
{
	mpi --mca pml ucx --mca osc ucx -x "UCX_TLS=$1,self" -x UCX_LOG_LEVEL=error \
		-x "UCX_IB_GID_INDEX=$gid1"
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
