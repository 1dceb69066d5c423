#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RC atomics, exactly once whatever the network loses; ATOMIC WRITE and FLUSH
# where the kernel has them.  See verbs_atomic.c.
#
# RDMA_TEST_PMEM=namespace0.0 names persistent memory that can be written to: what
# it holds is lost.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 1500 && fixed_neighbours
}

verbs()
{
	verbs_or_skip "$1" "$link1" "$gid1" "$link2" "$gid2" ${2:+"$2"}
}

# under TEST ARGUMENT OPTIONS OF NETEM...
under()
{
	local test=$1 arg=$2

	shift 2
	modprobe -q sch_netem && command -v tc >/dev/null || { skip "no netem"; return; }
	check tc -n "$ns1" qdisc replace dev "$dev1" root netem limit 10000 "$@" || return
	check tc -n "$ns2" qdisc replace dev "$dev2" root netem limit 10000 "$@" || return
	verbs "$test" "$arg"
	check tc -n "$ns1" qdisc del dev "$dev1" root
	check tc -n "$ns2" qdisc del dev "$dev2" root
}

# map_pmem NAMESPACE: persistent memory as a device that can be mapped, $dax
map_pmem()
{
	local nd=/sys/bus/nd seed

	modprobe -q -a nd_e820 nfit nd_pmem dax_pmem device_dax
	check poll_until 10 test -e "$nd/devices/$1/holder" || return
	seed=$(cat "$nd/devices/$1/holder")
	# another run has done it
	[ -n "$seed" ] || {
		seed=$(cat "$nd/devices/$1/../dax_seed")
		echo "$1" >"$nd/drivers/nd_pmem/unbind"
		cat /proc/sys/kernel/random/uuid >"$nd/devices/$seed/uuid"
		echo ram >"$nd/devices/$seed/mode"
		echo "$1" >"$nd/devices/$seed/namespace"
		echo "$seed" >"$nd/drivers/dax_pmem/bind"
	}
	dax=$(basename "$nd/devices/$seed"/dax[0-9]*)
	check poll_until 10 test -c "/dev/$dax"
}

flush_persistent()
{
	[ -n "${RDMA_TEST_PMEM-}" ] || { skip "RDMA_TEST_PMEM names no persistent memory"; return; }
	map_pmem "$RDMA_TEST_PMEM" || return
	verbs flush_persistent "/dev/$dax"
}

perftest()
{
	check perf ib_atomic_bw "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 500 "$@"
}

latency()
{
	check perf ib_atomic_lat "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -n 200 "$@"
}

begin
run_tests \
	"verbs atomics" \
	"verbs atomic_errors" \
	"verbs exactly_once" \
	"verbs swap_once" \
	"verbs atomic_write" \
	"verbs flush_global" \
	flush_persistent \
	"under exactly_once 960 loss 3%" \
	"under exactly_once 960 loss 10% duplicate 5% delay 1ms reorder 80%" \
	"under swap_once 960 loss 3%" \
	"under swap_once 960 loss 10% duplicate 5% delay 1ms reorder 80%" \
	"under atomic_write 200 loss 5% duplicate 5%" \
	"under flush_global 40 loss 3%" \
	"perftest -A FETCH_AND_ADD" \
	"perftest -A CMP_AND_SWAP" \
	"latency -A FETCH_AND_ADD"
