/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* hw_counters: per-CPU, read through `rdma statistic` and sysfs. */
#ifndef RXE_STATS_H
#define RXE_STATS_H

#include <linux/percpu.h>
#include "rxe_device.h"
#include "rxe_packet.h"

/* Names in rxe_stats.c; those of the in-tree driver where the meaning is the same. */
enum rxe_counter {
	RXE_CNT_SENT_PKTS,
	RXE_CNT_RCVD_PKTS,
	RXE_CNT_SENT_BYTES,		/* BTH to ICRC */
	RXE_CNT_RCVD_BYTES,
	RXE_CNT_DUP_REQ,		/* duplicate_request */
	RXE_CNT_OUT_OF_SEQ_REQ,		/* out_of_seq_request */
	RXE_CNT_RCV_RNR,		/* rcvd_rnr_err: RNR NAKs received */
	RXE_CNT_SND_RNR,		/* send_rnr_err: RNR NAKs sent */
	RXE_CNT_RCV_SEQ_ERR,		/* rcvd_seq_err: PSN sequence NAKs received */
	RXE_CNT_RETRY_EXCEEDED,		/* retry_exceeded_err */
	RXE_CNT_RNR_RETRY_EXCEEDED,	/* retry_rnr_exceeded_err */
	RXE_CNT_COMP_RETRY,		/* completer_retry_err: retransmissions begun */
	RXE_CNT_SEND_ERR,		/* send_err: packets that could not be sent, and why: */
	RXE_CNT_SEND_ROUTE,		/* no route to the peer */
	RXE_CNT_SEND_MEMORY,
	RXE_CNT_SEND_MTU,		/* longer than the MTU of the route */
	RXE_CNT_SEND_QUEUE,		/* a queue dropped it */
	RXE_CNT_SEND_FILTER,		/* netfilter dropped it */
	RXE_CNT_SEND_DOWN,		/* the netdev, the GID or the namespace is down or gone */
	RXE_CNT_SEND_OTHER,
	RXE_CNT_LINK_DOWNED,		/* link_downed */
	RXE_CNT_RDMA_SEND,		/* rdma_sends */
	RXE_CNT_RDMA_RECV,		/* rdma_recvs */
	RXE_CNT_TX_BURSTS,		/* skbs sent, each a burst of packets */
	RXE_CNT_RX_BURSTS,
	RXE_CNT_TX_TOKENS,		/* sent_tokens: packets with a token, no ICRC */
	RXE_CNT_RX_TOKENS,		/* rcvd_tokens */
	RXE_CNT_TOKEN_ENDS,		/* token_ends: back to ICRCs after a loss */
	RXE_CNT_LOCAL_ACCESS,		/* local_access_err: keys of our own work requests */
	RXE_CNT_BAD_WQE,		/* malformed_wqe_err: of our own work requests */
	RXE_CNT_ACCESS_ERR,		/* remote access NAKs sent */
	RXE_CNT_INVALID_REQ,		/* invalid request NAKs sent */
	RXE_CNT_DROP_FIRST,		/* one for each enum rxe_drop but NONE */
	RXE_NR_COUNTERS = RXE_CNT_DROP_FIRST + RXE_NR_DROPS - 1
};

struct rxe_stats {
	u64	cnt[RXE_NR_COUNTERS];
};

static inline void rxe_count_add(struct rxe_dev *rxe, enum rxe_counter c, u64 n)
{
	this_cpu_add(rxe->stats->cnt[c], n);
}

static inline void rxe_count(struct rxe_dev *rxe, enum rxe_counter c)
{
	rxe_count_add(rxe, c, 1);
}

/**
 * rxe_stats_sum - a counter over all CPUs
 *
 * Context: any.
 */
u64 rxe_stats_sum(struct rxe_dev *rxe, enum rxe_counter c);

/* Packets dropped for @reason, as rxe_stats_sum(). */
static inline u64 rxe_stats_drops(struct rxe_dev *rxe, enum rxe_drop reason)
{
	return rxe_stats_sum(rxe, RXE_CNT_DROP_FIRST + reason - 1);
}

/* Name of one of the reasons behind RXE_CNT_SEND_ERR. */
const char *rxe_send_err_name(enum rxe_counter c);

/* Name of an enum rxe_drop, or "-". */
const char *rxe_drop_name(u32 reason);

/* ib_device_ops */
struct rdma_hw_stats *rxe_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int rxe_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif /* RXE_STATS_H */
