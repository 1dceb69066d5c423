// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomic operations on registered memory. */

#include <linux/atomic.h>
#include "rxe_atomic.h"
#include "rxe_copy.h"
#include "rxe_packet.h"

int rxe_mr_atomic(const struct rxe_mr *mr, u64 va, const struct rxe_pkt *pkt, u64 *orig)
{
	int err = 0;
	u64 *p;

	rxe_mr_begin(mr);
	p = rxe_mr_ptr(mr, va, true);
	if (!p)
		err = -EAGAIN;
	else if ((pkt->opcode & ~ROCE_SERVICE_MASK) == ROCE_OP_COMPARE_SWAP)
		*orig = cmpxchg64(p, pkt->compare, pkt->swap_add);
	else
		*orig = atomic64_fetch_add(pkt->swap_add, (atomic64_t *)p);
	rxe_mr_end(mr);
	return err;
}

int rxe_mr_atomic_write(const struct rxe_mr *mr, u64 va, const u8 *data)
{
	u64 word, *p;

	memcpy(&word, data, sizeof(word));
	rxe_mr_begin(mr);
	p = rxe_mr_ptr(mr, va, true);
	if (p)	/* pairs with the acquire of whoever polls for it (Annex A19.4.3) */
		smp_store_release(p, word);
	rxe_mr_end(mr);
	return p ? 0 : -EAGAIN;
}
