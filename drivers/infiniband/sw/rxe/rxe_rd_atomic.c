// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responder resources: what is remembered of READs and atomics to answer duplicates. */

#include <linux/slab.h>
#include "rxe_access.h"
#include "rxe_alloc.h"
#include "rxe_packet.h"
#include "rxe_rd_atomic.h"

int rxe_rd_ring_resize(struct rxe_rd_ring *ring, unsigned int size)
{
	struct rxe_rd_res *res = NULL;

	if (size) {
		res = kcalloc(size, sizeof(*res), RXE_GFP_USER);
		if (!res)
			return -ENOMEM;
	}

	kfree(ring->res);
	ring->res = res;
	ring->size = size;
	ring->next = 0;
	return 0;
}

static struct rxe_rd_res *rxe_rd_ring_next(struct rxe_rd_ring *ring)
{
	struct rxe_rd_res *res = &ring->res[ring->next];

	ring->next = (ring->next + 1) % ring->size;
	return res;
}

void rxe_rd_ring_add(struct rxe_rd_ring *ring, const struct rxe_pkt *pkt, u32 num_pkts)
{
	*rxe_rd_ring_next(ring) = (struct rxe_rd_res){
		.valid		= true,
		.first_psn	= pkt->psn,
		.last_psn	= roce_psn_add(pkt->psn, num_pkts - 1),
		.va		= pkt->va,
		.rkey		= pkt->rkey,
		.length		= pkt->length,
	};
}

void rxe_rd_ring_add_atomic(struct rxe_rd_ring *ring, const struct rxe_pkt *pkt, u64 orig)
{
	*rxe_rd_ring_next(ring) = (struct rxe_rd_res){
		.valid		= true,
		.atomic		= true,
		.first_psn	= pkt->psn,
		.last_psn	= pkt->psn,
		.va		= pkt->va,
		.rkey		= pkt->rkey,
		.orig		= orig,
	};
}

/* The @age-th newest entry, 1 .. size: PSNs come round, and old ones are remembered long. */
static const struct rxe_rd_res *rxe_rd_ring_newest(const struct rxe_rd_ring *ring,
						   unsigned int age)
{
	return &ring->res[(ring->next + ring->size - age) % ring->size];
}

bool rxe_rd_ring_find_atomic(const struct rxe_rd_ring *ring, const struct rxe_pkt *pkt,
			     u64 *orig)
{
	unsigned int i;

	for (i = 1; i <= ring->size; i++) {
		const struct rxe_rd_res *res = rxe_rd_ring_newest(ring, i);

		if (!res->valid || !res->atomic || !roce_psn_eq(pkt->psn, res->first_psn))
			continue;
		if (pkt->rkey != res->rkey || pkt->va != res->va)
			continue;
		*orig = res->orig;
		return true;
	}
	return false;
}

bool rxe_rd_ring_replay(const struct rxe_rd_ring *ring, const struct rxe_pkt *pkt,
			unsigned int mtu)
{
	unsigned int i;

	for (i = 1; i <= ring->size; i++) {
		const struct rxe_rd_res *res = rxe_rd_ring_newest(ring, i);
		u64 off;

		if (!res->valid || res->atomic || roce_psn_before(pkt->psn, res->first_psn) ||
		    roce_psn_after(pkt->psn, res->last_psn))
			continue;
		off = (u64)roce_psn_diff(pkt->psn, res->first_psn) * mtu;
		if (pkt->rkey == res->rkey && pkt->va == res->va + off &&
		    rxe_range_ok(0, res->length, off, pkt->length))
			return true;
	}
	return false;
}
