// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responder resources: what is remembered of READs to answer duplicates. */

#include <linux/slab.h>
#include "rxe_access.h"
#include "rxe_packet.h"
#include "rxe_rd_atomic.h"

int rxe_rd_ring_resize(struct rxe_rd_ring *ring, unsigned int size)
{
	struct rxe_rd_res *res = NULL;

	if (size) {
		res = kcalloc(size, sizeof(*res), GFP_KERNEL_ACCOUNT);
		if (!res)
			return -ENOMEM;
	}

	kfree(ring->res);
	ring->res = res;
	ring->size = size;
	ring->next = 0;
	return 0;
}

void rxe_rd_ring_add(struct rxe_rd_ring *ring, const struct rxe_pkt *pkt, u32 num_pkts)
{
	struct rxe_rd_res *res = &ring->res[ring->next];

	ring->next = (ring->next + 1) % ring->size;
	res->valid = true;
	res->first_psn = pkt->psn;
	res->last_psn = roce_psn_add(pkt->psn, num_pkts - 1);
	res->va = pkt->va;
	res->rkey = pkt->rkey;
	res->length = pkt->length;
}

bool rxe_rd_ring_replay(const struct rxe_rd_ring *ring, const struct rxe_pkt *pkt,
			unsigned int mtu)
{
	unsigned int i;

	/* newest first: PSNs come round, and old READs are remembered long */
	for (i = 1; i <= ring->size; i++) {
		const struct rxe_rd_res *res;
		u64 off;

		res = &ring->res[(ring->next + ring->size - i) % ring->size];
		if (!res->valid || roce_psn_before(pkt->psn, res->first_psn) ||
		    roce_psn_after(pkt->psn, res->last_psn))
			continue;
		off = (u64)roce_psn_diff(pkt->psn, res->first_psn) * mtu;
		if (pkt->rkey == res->rkey && pkt->va == res->va + off &&
		    rxe_range_ok(0, res->length, off, pkt->length))
			return true;
	}
	return false;
}
