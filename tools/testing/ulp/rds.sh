#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# RDS over RDMA: two sockets of one address, and of one link. Messages go by SEND;
# memory that a process offers is registered by REG_MR and reached by RDMA.

. "$(dirname "$0")/ulp.sh"

setup()
{
	check setup_own_address
}

ulp_down()
{
	# it has connections as long as it is there
	modprobe -q -r rds_rdma
	return 0
}

# sockets WHAT: and it went over the link
sockets()
{
	local before

	before=$(counter "$link1" sent_pkts)
	check timeout $((100 * slow)) python3 "$(dirname "$0")/rds_sockets.py" "$ip1" "$@"
	check counter_above "$link1" sent_pkts $((before + 10))
}

messages() { sockets messages; }
RDMA() { sockets rdma; }

with_loss()
{
	netem loss 1% || return
	sockets messages rdma
	no_netem
}

unloads()
{
	check modprobe -r rds_rdma
}

require python3
# By itself it retries once, and loses its connection with the second packet that is
# lost: what it does then, and with what was under way, is not to be tested here.
modprobe -q rds_rdma rds_ib_retry_count=7
require_modules rds rds_rdma
begin
run_tests \
	messages \
	RDMA \
	with_loss \
	unloads
