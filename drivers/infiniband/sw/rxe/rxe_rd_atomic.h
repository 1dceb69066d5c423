/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Responder resources: what is remembered of READs and atomics to answer duplicates. */
#ifndef RXE_RD_ATOMIC_H
#define RXE_RD_ATOMIC_H

#include <rdma/roce_psn.h>

struct rxe_pkt;

/**
 * struct rxe_rd_res - one READ or atomic request that was answered
 * @valid:	in use
 * @atomic:	an atomic: never carried out twice, @orig is its answer
 * @first_psn:	of the responses
 * @last_psn:	of the responses
 * @va:		first byte
 * @rkey:	key
 * @length:	bytes
 * @orig:	what an atomic found
 */
struct rxe_rd_res {
	bool		valid;
	bool		atomic;
	struct roce_psn	first_psn;
	struct roce_psn	last_psn;
	u64		va;
	u32		rkey;
	u32		length;
	u64		orig;
};

/**
 * struct rxe_rd_ring - the last max_dest_rd_atomic READs and atomics
 * @res:	elements
 * @size:	their number; 0: they are refused
 * @next:	element to use next
 */
struct rxe_rd_ring {
	struct rxe_rd_res	*res;
	unsigned int		size;
	unsigned int		next;
};

/**
 * rxe_rd_ring_resize - make room for @size requests, forgetting those there are
 *
 * Return: 0, -ENOMEM (the old ones are kept).
 */
int rxe_rd_ring_resize(struct rxe_rd_ring *ring, unsigned int size);

/* Remember a READ request; the oldest is forgotten. */
void rxe_rd_ring_add(struct rxe_rd_ring *ring, const struct rxe_pkt *pkt, u32 num_pkts);

/* Remember an atomic request and its answer; the oldest is forgotten. */
void rxe_rd_ring_add_atomic(struct rxe_rd_ring *ring, const struct rxe_pkt *pkt, u64 orig);

/**
 * rxe_rd_ring_find_atomic - the answer that a duplicate atomic got before
 * @orig:	result
 *
 * Return: false when it is not remembered.
 */
bool rxe_rd_ring_find_atomic(const struct rxe_rd_ring *ring, const struct rxe_pkt *pkt,
			     u64 *orig);

/**
 * rxe_rd_ring_replay - may this duplicate READ request be answered?
 * @mtu:	path MTU
 *
 * It may when it asks for a part of a remembered READ, from where its PSN says
 * (IBTA 9.7.5.1.4).
 */
bool rxe_rd_ring_replay(const struct rxe_rd_ring *ring, const struct rxe_pkt *pkt,
			unsigned int mtu);

#endif /* RXE_RD_ATOMIC_H */
