#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A round of perftest programs over a veth pair: do they run, not how fast.  KTAP.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/testing/selftests/rdma/lib.sh
. "$here/../selftests/rdma/lib.sh"

pair_limit=120

setup()
{
	setup_pair 4200
}

# bw PROGRAM OPTION...
bw()
{
	local program=$1

	shift
	command -v "$program" >/dev/null || { skip "$program is not installed"; return; }
	check perf "$program" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "$@"
}

begin
tests=()
for program in ib_send_bw ib_write_bw ib_read_bw; do
	tests+=("bw $program -s 65536 -n 300" "bw $program -s 65536 -n 300 -e" "bw $program -s 65536 -n 100 -b"
		"bw $program -s 1048576 -n 20 -q 4" "bw $program -s 64 -n 1000 -q 8" "bw $program -a -n 10"
		"bw $program -s 4096 -n 200 -R")
done
tests+=("bw ib_send_bw -c UD -s 1024 -n 300" "bw ib_send_bw -c UC -s 65536 -n 100"
	"bw ib_write_bw -c UC -s 65536 -n 100" "bw ib_atomic_bw -n 300" "bw ib_send_lat -s 8 -n 300"
	"bw ib_write_lat -s 8 -n 300" "bw ib_read_lat -s 8 -n 300" "bw ib_send_bw -s 4096 -n 300 -r 64 --use-srq")
run_tests "${tests[@]}"
