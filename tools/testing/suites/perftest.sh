#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# perftest between two namespaces: every ib_* program, over all sizes of messages, and
# connected over TCP and by rdma_cm, RC, UC and UD, with one QP and with several,
# with events and polling. Runs in a VM; KTAP.

. "${RDMA_SELFTESTS:-$(dirname "$0")/../selftests/rdma}/lib.sh"

pair_limit=90

setup()
{
	require ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat \
		ib_atomic_bw ib_atomic_lat
	check setup_pair 4500
}

# run PROGRAM OPTION...
run()
{
	check perf "$1" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "${@:2}"
}

ib_send_bw() { run ib_send_bw "$@"; }
ib_send_lat() { run ib_send_lat "$@"; }
ib_write_bw() { run ib_write_bw "$@"; }
ib_write_lat() { run ib_write_lat "$@"; }
ib_read_bw() { run ib_read_bw "$@"; }
ib_read_lat() { run ib_read_lat "$@"; }
ib_atomic_bw() { run ib_atomic_bw "$@"; }
ib_atomic_lat() { run ib_atomic_lat "$@"; }

# 2 bytes to 8 MiB, for UD to the MTU; the variants take one size, as an emulated CPU
# needs seconds for all of them
all="-a -n 5"
some="-s 65536 -n 20"
tests=()
for program in ib_send_bw ib_write_bw ib_read_bw ib_send_lat ib_write_lat ib_read_lat; do
	tests+=("$program $all" "$program $all -R")
done
tests+=("ib_send_bw $all -c UC" "ib_write_bw $all -c UC" "ib_send_bw $all -c UD"
	"ib_send_bw $all -c UD -R" "ib_send_bw $all -e" "ib_read_bw $all -e" "ib_send_bw $all -q 4"
	"ib_read_bw $all -q 4" "ib_write_bw $all -q 4")
# No events with several QPs both ways: for each event, perftest 4.5 takes as many
# completions as one QP has receives, and waits for ever when there were more
for cm in "" " -R"; do
	for program in ib_send_bw ib_read_bw; do
		tests+=("$program $some$cm -e" "$program $some$cm -q 4" "$program $some$cm -b -q 2"
			"$program $some$cm -b -e")
	done
	# perftest has no events for WRITE
	tests+=("ib_write_bw $some$cm" "ib_write_bw $some$cm -q 4" "ib_write_bw $some$cm -b -q 2")
	for program in ib_send_lat ib_write_lat ib_read_lat; do
		tests+=("$program $some$cm")
	done
	tests+=("ib_send_lat $some$cm -e" "ib_read_lat $some$cm -e")
	tests+=("ib_send_bw -s 2048 -n 100$cm -c UD -e -q 2" "ib_send_lat -s 2048 -n 20$cm -c UD")
	for atomic in FETCH_AND_ADD CMP_AND_SWAP; do
		tests+=("ib_atomic_bw -n 100$cm -A $atomic" "ib_atomic_lat -n 100$cm -A $atomic")
	done
	tests+=("ib_atomic_bw -n 100$cm -q 4 -e" "ib_atomic_lat -n 100$cm -e")
done
# rdma_cm has no UC
tests+=("ib_send_bw $some -c UC -e -q 4" "ib_send_lat $some -c UC" "ib_write_bw $some -c UC -q 4"
	"ib_write_lat $some -c UC")
tests+=("ib_send_bw -s 4096 -n 100 -r 16 --use-srq -q 4" "ib_send_bw -s 4096 -n 100 -I 64 -l 4")

begin
run_tests "${tests[@]}"
