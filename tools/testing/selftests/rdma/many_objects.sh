#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Many objects: what they take of memory and time, and what happens when there are as
# many as the device can have. RDMA_TEST_QPS and RDMA_TEST_MRS: how many, a thousand and
# 40,000 without them. A million MRs want 4 GiB of memory. RDMA_TEST_FILL: kinds of
# objects that are made up to the limit (PD; also AH CQ SRQ QP, the last want 3 GiB).

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

# up_to_the_limit KIND
up_to_the_limit()
{
	# a mapping for each ring
	local file=/proc/sys/vm/max_map_count had

	read -r had <"$file"
	echo 300000 >"$file"
	many fill "$link1" "$gid1" "$1"
	echo "$had" >"$file"
}

tests=(idle_QPs MRs)
for kind in ${RDMA_TEST_FILL:-PD}; do
	tests+=("up_to_the_limit $kind")
done

begin
run_tests "${tests[@]}"
