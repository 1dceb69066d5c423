#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many objects: what they take of memory and time. RDMA_TEST_QPS and RDMA_TEST_MRS:
# how many, a thousand and 40,000 without them. A million MRs want 4 GiB of memory.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500
}

# many TEST ARGUMENT...: shows what it measures
many()
{
	local out=$tmp/many

	helper verbs || return
	timeout $((1500 * slow)) "$here/verbs" "$@" >"$out" 2>&1 || fail "verbs $1: status $?"
	diag_file "$out"
}

idle_QPs()
{
	many idle_qps "$link1" "$gid1" "$link2" "$gid2" $((${RDMA_TEST_QPS:-1000} / 2))
}

MRs()
{
	many many_mrs "$link1" "$gid1" "${RDMA_TEST_MRS:-40000}"
}

begin
run_tests \
	idle_QPs \
	MRs
