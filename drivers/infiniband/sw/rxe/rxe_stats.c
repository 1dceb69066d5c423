// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "rxe_stats.h"

#define RXE_SEND_PREFIX		"send_err_"
#define RXE_DROP_PREFIX		"drop_"
#define RXE_CNT_DROP(reason)	(RXE_CNT_DROP_FIRST + RXE_DROP_##reason - 1)

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
	[RXE_CNT_SEND_ROUTE].name		= RXE_SEND_PREFIX "route",
	[RXE_CNT_SEND_MEMORY].name		= RXE_SEND_PREFIX "memory",
	[RXE_CNT_SEND_MTU].name			= RXE_SEND_PREFIX "mtu",
	[RXE_CNT_SEND_QUEUE].name		= RXE_SEND_PREFIX "queue",
	[RXE_CNT_SEND_FILTER].name		= RXE_SEND_PREFIX "filter",
	[RXE_CNT_SEND_DOWN].name		= RXE_SEND_PREFIX "down",
	[RXE_CNT_SEND_OTHER].name		= RXE_SEND_PREFIX "other",
	[RXE_CNT_LINK_DOWNED].name		= "link_downed",
	[RXE_CNT_RDMA_SEND].name		= "rdma_sends",
	[RXE_CNT_RDMA_RECV].name		= "rdma_recvs",
	[RXE_CNT_TX_BURSTS].name		= "tx_bursts",
	[RXE_CNT_RX_BURSTS].name		= "rx_bursts",
	[RXE_CNT_TX_TOKENS].name		= "sent_tokens",
	[RXE_CNT_RX_TOKENS].name		= "rcvd_tokens",
	[RXE_CNT_TOKEN_ENDS].name		= "token_ends",
	[RXE_CNT_LOCAL_ACCESS].name		= "local_access_err",
	[RXE_CNT_BAD_WQE].name			= "malformed_wqe_err",
	[RXE_CNT_ACCESS_ERR].name		= "remote_access_err",
	[RXE_CNT_INVALID_REQ].name		= "invalid_req_err",
	[RXE_CNT_DROP(SHORT)].name		= RXE_DROP_PREFIX "short",
	[RXE_CNT_DROP(OPCODE)].name		= RXE_DROP_PREFIX "opcode",
	[RXE_CNT_DROP(VERSION)].name		= RXE_DROP_PREFIX "version",
	[RXE_CNT_DROP(PAD)].name		= RXE_DROP_PREFIX "pad",
	[RXE_CNT_DROP(PAYLOAD)].name		= RXE_DROP_PREFIX "payload",
	[RXE_CNT_DROP(ICRC)].name		= RXE_DROP_PREFIX "icrc",
	[RXE_CNT_DROP(CSUM)].name		= RXE_DROP_PREFIX "csum",
	[RXE_CNT_DROP(IP)].name			= RXE_DROP_PREFIX "ip",
	[RXE_CNT_DROP(NO_QP)].name		= RXE_DROP_PREFIX "no_qp",
	[RXE_CNT_DROP(QP_TYPE)].name		= RXE_DROP_PREFIX "qp_type",
	[RXE_CNT_DROP(QP_STATE)].name		= RXE_DROP_PREFIX "qp_state",
	[RXE_CNT_DROP(ADDRESS)].name		= RXE_DROP_PREFIX "address",
	[RXE_CNT_DROP(PKEY)].name		= RXE_DROP_PREFIX "pkey",
	[RXE_CNT_DROP(QKEY)].name		= RXE_DROP_PREFIX "qkey",
	[RXE_CNT_DROP(PSN)].name		= RXE_DROP_PREFIX "psn",
	[RXE_CNT_DROP(QUEUE)].name		= RXE_DROP_PREFIX "queue",
	[RXE_CNT_DROP(NO_GROUP)].name		= RXE_DROP_PREFIX "no_group",
	[RXE_CNT_DROP(NO_WQE)].name		= RXE_DROP_PREFIX "no_wqe",
	[RXE_CNT_DROP(LENGTH)].name		= RXE_DROP_PREFIX "length",
	[RXE_CNT_DROP(DUPLICATE)].name		= RXE_DROP_PREFIX "duplicate",
	[RXE_CNT_DROP(INVALID)].name		= RXE_DROP_PREFIX "invalid",
	[RXE_CNT_DROP(UNREADABLE)].name		= RXE_DROP_PREFIX "unreadable",
};

const char *rxe_send_err_name(enum rxe_counter c)
{
	return rxe_stat_descs[c].name + strlen(RXE_SEND_PREFIX);
}

const char *rxe_drop_name(u32 reason)
{
	if (reason == RXE_DROP_NONE || reason >= RXE_NR_DROPS)
		return "-";
	return rxe_stat_descs[RXE_CNT_DROP_FIRST + reason - 1].name + strlen(RXE_DROP_PREFIX);
}

u64 rxe_stats_sum(struct rxe_dev *rxe, enum rxe_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(rxe->stats, cpu)->cnt[c]);
	return sum;
}

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
