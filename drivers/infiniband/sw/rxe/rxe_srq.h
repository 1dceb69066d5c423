/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared receive queues.
 *
 * The responders of several QPs take WQEs out of one ring.  A WQE is copied and
 * its slot given back in one step under the lock; from then on it belongs to
 * the QP alone, and a QP that fails flushes that one WQE and no other.
 */
#ifndef RXE_SRQ_H
#define RXE_SRQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "rxe_ring.h"

struct rxe_rwqe;

/**
 * struct rxe_srq - shared receive queue
 * @ibsrq:	core's part; it lives as long as a QP uses it
 * @lock:	protects the rest, and the ring's consumer side (kernel SRQs: both
 *		sides); irqsave, a leaf
 * @ring:	struct rxe_recv_wqe
 * @prod:	kernel SRQs: producer index
 * @taken:	WQEs that were taken, as a count that goes on
 * @limit:	SRQ_LIMIT is due when fewer WQEs are left; 0: not armed
 * @max_sge:	of a WQE; constant
 * @broken:	the ring's index made no sense: SRQ_ERR has been reported
 * @user:	mapped by a process; constant
 * @resizing:	@ring stays; taken before @lock
 */
struct rxe_srq {
	struct ib_srq	ibsrq;
	spinlock_t	lock;	/* see above */
	struct rxe_ring	ring;
	u32		prod;
	u32		taken;
	u32		limit;
	u32		max_sge;
	bool		broken;
	bool		user;
	struct mutex	resizing;	/* see above */
};

static inline struct rxe_srq *to_rsrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct rxe_srq, ibsrq);
}

/**
 * rxe_srq_get - take a receive WQE for a QP
 * @srq:	shared receive queue
 * @wqe:	where it is copied to; @wqe->sge holds @srq->max_sge elements
 *
 * Reports SRQ_LIMIT and SRQ_ERR when they are due.
 *
 * Context: any, no lock of ours.
 * Return: as rxe_rq_get(); RXE_RQ_BROKEN: the SRQ is in error.
 */
int rxe_srq_get(struct rxe_srq *srq, struct rxe_rwqe *wqe);

/**
 * rxe_srq_pending - WQEs that wait
 *
 * Context: any.
 */
u32 rxe_srq_pending(struct rxe_srq *srq);

/* ib_device_ops */
int rxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int rxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata);
int rxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int rxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int rxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad);

#endif /* RXE_SRQ_H */
