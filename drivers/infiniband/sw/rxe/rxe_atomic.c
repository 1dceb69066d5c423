// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomic operations on registered memory. */

#include <linux/atomic.h>
#include "rxe_atomic.h"
#include "rxe_copy.h"
#include "rxe_packet.h"

int rxe_mr_atomic(const struct rxe_mr *mr, const struct rxe_pkt *pkt, u64 *orig)
{
	int err = 0;
	u64 *p;

	rxe_mr_begin(mr);
	p = rxe_mr_ptr(mr, pkt->va, true);
	if (!p)
		err = -EAGAIN;
	else if ((unsigned long)p & 7)	/* a zero-based object may begin anywhere */
		err = -EINVAL;
	else if ((pkt->opcode & ~ROCE_SERVICE_MASK) == ROCE_OP_COMPARE_SWAP)
		*orig = cmpxchg64(p, pkt->compare, pkt->swap_add);
	else
		*orig = atomic64_fetch_add(pkt->swap_add, (atomic64_t *)p);
	rxe_mr_end(mr);
	return err;
}
