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

# mpi OPTION...: one process in each namespace, which is a host of its own for Open MPI
mpi()
{
	local before1 before2

	[ -x "$tmp/mpi_ring" ] || check mpicc -O1 -o "$tmp/mpi_ring" "$suites/mpi_ring.c" || return
	# in place of ssh: agent HOST COMMAND...
	cat >"$tmp/agent" <<-EOF
		#!/bin/sh
		shift
		exec ip netns exec $ns2 unshare --uts sh -c 'hostname two; eval "\$*"' sh "\$@"
	EOF
	chmod +x "$tmp/agent"
	before1=$(counter "$link1" sent_pkts) before2=$(counter "$link2" sent_pkts)
	# two names of one setting: Open MPI 4 and PRRTE, of Open MPI 5
	# shellcheck disable=SC2016 # for the inner shells
	check in_ns "$ns1" env OMPI_MCA_plm_rsh_agent="$tmp/agent" PRTE_MCA_plm_ssh_agent="$tmp/agent" \
		unshare --uts sh -c 'hostname one; exec "$@"' sh \
		timeout $((120 * slow)) mpirun --allow-run-as-root -np 2 --host "$ip1:1,$ip2:1" \
		--map-by node:OVERSUBSCRIBE "$@" sh -c '
		link=$1
		[ "$(uname -n)" = one ] || link=$2
		UCX_NET_DEVICES=$link:1 exec "$3"' sh "$link1" "$link2" "$tmp/mpi_ring"
	check counter_above "$link1" sent_pkts $((before1 + 300))
	check counter_above "$link2" sent_pkts $((before2 + 300))
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
