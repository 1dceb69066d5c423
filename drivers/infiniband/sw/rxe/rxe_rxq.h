/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Bursts that wait for one executor. */
#ifndef RXE_RXQ_H
#define RXE_RXQ_H

#include <linux/atomic.h>
#include <linux/skbuff.h>
#include "rxe_limits.h"
#include "rxe_rx.h"

/**
 * struct rxe_rxq - queue of bursts
 * @queue:	filled by drainers on any CPU, emptied by the executor
 * @bytes:	truesize of what waits
 * @cur:	the burst that the executor takes packets from; the executor's own
 */
struct rxe_rxq {
	struct sk_buff_head	queue;
	atomic_t		bytes;
	struct sk_buff		*cur;
};

static inline void rxe_rxq_init(struct rxe_rxq *rxq)
{
	skb_queue_head_init(&rxq->queue);
	atomic_set(&rxq->bytes, 0);
	rxq->cur = NULL;
}

/* False: full. */
static inline bool rxe_rxq_add(struct rxe_rxq *rxq, struct sk_buff *skb)
{
	if (atomic_add_return(skb->truesize, &rxq->bytes) > RXE_RX_QUEUE_BYTES) {
		atomic_sub(skb->truesize, &rxq->bytes);
		return false;
	}
	skb_queue_tail(&rxq->queue, skb);
	return true;
}

static inline struct sk_buff *rxe_rxq_take(struct rxe_rxq *rxq)
{
	struct sk_buff *skb;

	if (skb_queue_empty_lockless(&rxq->queue))
		return NULL;
	skb = skb_dequeue(&rxq->queue);
	if (skb)
		atomic_sub(skb->truesize, &rxq->bytes);
	return skb;
}

static inline bool rxe_rxq_idle(const struct rxe_rxq *rxq)
{
	return !rxq->cur && skb_queue_empty_lockless(&rxq->queue);
}

/* Drop all that waits.  The executor is disabled, or the caller is it. */
static inline void rxe_rxq_purge(struct rxe_rxq *rxq)
{
	struct sk_buff *skb;

	if (rxq->cur)
		rxe_rx_free(rxq->cur);
	rxq->cur = NULL;
	while ((skb = rxe_rxq_take(rxq)))
		rxe_rx_free(skb);
}

#endif /* RXE_RXQ_H */
