// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rxe_stats.h"
#include "rxe_trace.h"

#define RXE_DESC_DROP(reason, text) \
	[RXE_CNT_DROP_FIRST + RXE_DROP_##reason - 1].name = "drop_" #text,

static const struct rdma_stat_desc rxe_stat_descs[RXE_NR_COUNTERS] = {
	[RXE_CNT_SENT_PKTS].name		= "sent_pkts",
	[RXE_CNT_RCVD_PKTS].name		= "rcvd_pkts",
	[RXE_CNT_SENT_BYTES].name		= "sent_bytes",
	[RXE_CNT_RCVD_BYTES].name		= "rcvd_bytes",
	[RXE_CNT_DUP_REQ].name			= "duplicate_request",
	[RXE_CNT_OUT_OF_SEQ_REQ].name		= "out_of_seq_request",
	[RXE_CNT_RCV_RNR].name			= "rcvd_rnr_err",
	[RXE_CNT_SND_RNR].name			= "send_rnr_err",
	[RXE_CNT_RCV_SEQ_ERR].name		= "rcvd_seq_err",
	[RXE_CNT_RETRY_EXCEEDED].name		= "retry_exceeded_err",
	[RXE_CNT_RNR_RETRY_EXCEEDED].name	= "retry_rnr_exceeded_err",
	[RXE_CNT_COMP_RETRY].name		= "completer_retry_err",
	[RXE_CNT_SEND_ERR].name			= "send_err",
	[RXE_CNT_LINK_DOWNED].name		= "link_downed",
	[RXE_CNT_RDMA_SEND].name		= "rdma_sends",
	[RXE_CNT_RDMA_RECV].name		= "rdma_recvs",
	[RXE_CNT_TX_BURSTS].name		= "tx_bursts",
	[RXE_CNT_RX_BURSTS].name		= "rx_bursts",
	[RXE_CNT_ACCESS_ERR].name		= "remote_access_err",
	[RXE_CNT_INVALID_REQ].name		= "invalid_req_err",
	RXE_DROP_REASONS(RXE_DESC_DROP, RXE_DESC_DROP)
};

struct rdma_hw_stats *rxe_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(rxe_stat_descs, RXE_NR_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int rxe_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct rxe_dev *rxe = to_rdev(ibdev);
	unsigned int i;
	int cpu;

	/* Port 0 asks for counters of the device; all of ours are the port's. */
	if (!port || !stats)
		return -EINVAL;

	memset(stats->value, 0, RXE_NR_COUNTERS * sizeof(stats->value[0]));
	for_each_possible_cpu(cpu) {
		const struct rxe_stats *s = per_cpu_ptr(rxe->stats, cpu);

		for (i = 0; i < RXE_NR_COUNTERS; i++)
			stats->value[i] += READ_ONCE(s->cnt[i]);
	}
	return RXE_NR_COUNTERS;
}
