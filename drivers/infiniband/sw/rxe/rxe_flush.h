/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* FLUSH (IBTA Annex A19): memory written by a peer becomes visible, or persistent. */
#ifndef RXE_FLUSH_H
#define RXE_FLUSH_H

#include <rdma/ib_verbs.h>
#include "rxe_packet.h"

struct rxe_mr;
struct rxe_qp;

/* Is it a FLUSH that means something? */
static inline bool rxe_flush_is_valid(const struct rxe_pkt *pkt)
{
	return pkt->plt && !(pkt->plt & ~(IB_FLUSH_GLOBAL | IB_FLUSH_PERSISTENT)) &&
	       (pkt->sel == IB_FLUSH_RANGE || pkt->sel == IB_FLUSH_MR);
}

/* The rights that it needs. */
static inline int rxe_flush_access(const struct rxe_pkt *pkt)
{
	return (pkt->plt & IB_FLUSH_GLOBAL ? IB_ACCESS_FLUSH_GLOBAL : 0) |
	       (pkt->plt & IB_FLUSH_PERSISTENT ? IB_ACCESS_FLUSH_PERSISTENT : 0);
}

/**
 * rxe_flush_mem - carry out a FLUSH, or find out whether it may be
 * @qp:		where it came in
 * @pkt:	FLUSH, valid
 * @check:	only look
 *
 * Context: the responder's executor.
 * Return: 0, or an error as from rxe_mem_get().
 */
int rxe_flush_mem(struct rxe_qp *qp, const struct rxe_pkt *pkt, bool check);

/**
 * rxe_flush_check_mr - can all of an MR be made persistent?
 * @mr:		complete, not published
 *
 * Return: 0, -EINVAL when some of it is not persistent memory.
 */
int rxe_flush_check_mr(const struct rxe_mr *mr);

#endif /* RXE_FLUSH_H */
