#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# UC, where nothing is lost; loss.sh has what it does when something is.

. "$(dirname "$0")/lib.sh"

setup()
{
	check setup_pair 4500 || return
}

uc_pingpong()
{
	check pingpong uc "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" "$@"
}

perftest()
{
	local program=$1

	shift
	check perf "$program" "$ns1" "$link1" "$gid1" "$ns2" "$link2" "$gid2" "$ip1" -c UC "$@"
}

begin
run_tests \
	"uc_pingpong -n 200 -c" \
	"uc_pingpong -n 50 -s 100000 -m 1024 -r 20 -c" \
	"perftest ib_send_bw -n 200 -s 65536" \
	"perftest ib_send_lat -n 200" \
	"perftest ib_write_bw -n 200 -s 65536" \
	"perftest ib_write_bw -n 200 -s 64 -q 4" \
	"perftest ib_write_lat -n 200"
