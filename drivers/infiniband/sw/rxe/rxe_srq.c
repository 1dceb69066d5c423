// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues. */

#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>
#include "rxe_device.h"
#include "rxe_srq.h"
#include "rxe_wqe.h"

/* Context: any, no lock of ours. */
static void rxe_srq_event(struct rxe_srq *srq, enum ib_event_type event)
{
	struct ib_event ev = {
		.device		= srq->ibsrq.device,
		.element.srq	= &srq->ibsrq,
		.event		= event,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&ev, srq->ibsrq.srq_context);
}

/*
 * An index that no producer could have written means that the ring was
 * overwritten: its WQEs are not worth anything either.
 */
static bool rxe_srq_check(struct rxe_srq *srq)
{
	lockdep_assert_held(&srq->lock);

	if (srq->broken || READ_ONCE(srq->ring.buf->producer_index) <= srq->ring.mask)
		return false;
	srq->broken = true;
	return true;
}

/* Fewer WQEs than the limit?  One event for each time that it is armed. */
static bool rxe_srq_limit_reached(struct rxe_srq *srq)
{
	lockdep_assert_held(&srq->lock);

	if (!srq->limit || rxe_ring_pending(&srq->ring) >= srq->limit)
		return false;
	srq->limit = 0;
	return true;
}

int rxe_srq_get(struct rxe_srq *srq, struct rxe_rwqe *wqe)
{
	bool limit = false, error;
	unsigned long flags;
	int status;

	spin_lock_irqsave(&srq->lock, flags);
	error = rxe_srq_check(srq);
	if (srq->broken) {
		status = RXE_RQ_BROKEN;
	} else if (!rxe_ring_pending(&srq->ring)) {
		status = RXE_RQ_EMPTY;
	} else {
		status = rxe_rwqe_copy(wqe, &srq->ring, srq->max_sge);
		rxe_ring_consume(&srq->ring);
		srq->taken++;
		limit = rxe_srq_limit_reached(srq);
	}
	spin_unlock_irqrestore(&srq->lock, flags);

	if (error)
		rxe_srq_event(srq, IB_EVENT_SRQ_ERR);
	if (limit)
		rxe_srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return status;
}

u32 rxe_srq_pending(struct rxe_srq *srq)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&srq->lock, flags);
	n = rxe_ring_pending(&srq->ring);
	spin_unlock_irqrestore(&srq->lock, flags);
	return n;
}

static int rxe_srq_ring_alloc(struct rxe_ring *ring, u32 max_wr, u32 max_sge)
{
	if (!max_wr || max_wr > RXE_MAX_SRQ_WR)
		return -EINVAL;
	return rxe_ring_alloc(ring, max_wr,
			      sizeof(struct rxe_recv_wqe) + max_sge * sizeof(struct rxe_sge));
}

static int rxe_srq_share(struct rxe_srq *srq, struct ib_udata *udata)
{
	struct rxe_create_srq_resp resp = {};
	int err;

	err = rxe_ring_share(&srq->ring, udata, &resp.mi);
	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int rxe_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibsrq->device);
	struct rxe_srq *srq = to_rsrq(ibsrq);
	int err;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (udata && udata->outlen < sizeof(struct rxe_create_srq_resp))
		return -EINVAL;
	if (init->attr.max_sge > RXE_MAX_SGE)
		return -EINVAL;
	if (!rxe_limit_get(&rxe->num_srq, RXE_MAX_SRQ))
		return -ENOMEM;

	spin_lock_init(&srq->lock);
	mutex_init(&srq->resizing);
	srq->user = udata;
	srq->max_sge = init->attr.max_sge;
	err = rxe_srq_ring_alloc(&srq->ring, init->attr.max_wr, srq->max_sge);
	if (err)
		goto err_limit;
	if (udata) {
		err = rxe_srq_share(srq, udata);
		if (err)
			goto err_ring;
	}
	init->attr.max_wr = srq->ring.mask;
	return 0;

err_ring:
	rxe_ring_free(&srq->ring);
err_limit:
	rxe_limit_put(&rxe->num_srq);
	return err;
}

/* WQEs that may come while others are copied. */
#define RXE_SRQ_MAX_LATE	1024

/* As rxe_cq_copy_ahead(). */
static u32 rxe_srq_copy_ahead(struct rxe_srq *srq, struct rxe_ring *ring, u32 *taken)
{
	unsigned long flags;
	u32 pending, first;

	lockdep_assert_held(&srq->resizing);

	spin_lock_irqsave(&srq->lock, flags);
	pending = min(rxe_ring_pending(&srq->ring), ring->mask);
	first = srq->ring.index;
	*taken = srq->taken;
	spin_unlock_irqrestore(&srq->lock, flags);
	rxe_ring_move(ring, 0, &srq->ring, first, pending);
	return pending;
}

/* As rxe_cq_swap(). */
static int rxe_srq_swap(struct rxe_srq *srq, struct rxe_ring *ring, u32 ahead, u32 taken,
			u32 limit)
{
	u32 pending = rxe_ring_pending(&srq->ring);
	u32 first = min(srq->taken - taken, ahead);

	lockdep_assert_held(&srq->lock);

	if (srq->broken || pending > ring->mask || limit > ring->mask)
		return -EINVAL;
	/* a process may have taken WQEs back */
	ahead = min(ahead - first, pending);
	/* or have hidden them until now: not so many at once, with interrupts off */
	if (srq->user && pending - ahead > RXE_SRQ_MAX_LATE)
		return -EAGAIN;
	rxe_ring_move(ring, first + ahead, &srq->ring, srq->ring.index + ahead, pending - ahead);
	ring->index = first;
	ring->buf->consumer_index = first;
	srq->prod = (first + pending) & ring->mask;
	ring->buf->producer_index = srq->prod;
	swap(*ring, srq->ring);
	return 0;
}

/* The new ring's place goes where the provider asks for it; the core's response has no room. */
static int rxe_srq_share_resized(struct rxe_ring *ring, struct ib_udata *udata)
{
	struct rxe_modify_srq_cmd cmd;
	struct mminfo mi = {};
	int err;

	if (udata->inlen < sizeof(cmd))
		return -EINVAL;
	err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
	if (err)
		return err;
	err = rxe_ring_share(ring, udata, &mi);
	if (err)
		return err;
	return copy_to_user(u64_to_user_ptr(cmd.mmap_info_addr), &mi, sizeof(mi)) ? -EFAULT : 0;
}

/*
 * What can sleep is done before the lock is taken: a QP sees the old ring or
 * the new one.  @limit: the one that will be set, NULL: the present one stays.
 */
static int rxe_srq_resize(struct rxe_srq *srq, u32 max_wr, const u32 *limit,
			  struct ib_udata *udata)
{
	struct rxe_ring ring;
	unsigned long flags;
	u32 ahead, taken;
	int err;

	err = rxe_srq_ring_alloc(&ring, max_wr, srq->max_sge);
	if (err)
		return err;
	if (srq->user)
		err = udata ? rxe_srq_share_resized(&ring, udata) : -EINVAL;
	if (!err) {
		mutex_lock(&srq->resizing);
		ahead = rxe_srq_copy_ahead(srq, &ring, &taken);
		spin_lock_irqsave(&srq->lock, flags);
		err = rxe_srq_swap(srq, &ring, ahead, taken, limit ? *limit : srq->limit);
		spin_unlock_irqrestore(&srq->lock, flags);
		mutex_unlock(&srq->resizing);
	}
	rxe_ring_free(&ring);
	return err;
}

/* A limit that is reached already is reported at once: no WQE may ever be taken again. */
static int rxe_srq_arm(struct rxe_srq *srq, u32 limit)
{
	unsigned long flags;
	bool reached;
	int err = 0;

	spin_lock_irqsave(&srq->lock, flags);
	if (limit > srq->ring.mask)
		err = -EINVAL;
	else
		srq->limit = limit;
	reached = !err && rxe_srq_limit_reached(srq);
	spin_unlock_irqrestore(&srq->lock, flags);

	if (reached)
		rxe_srq_event(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return err;
}

int rxe_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		   struct ib_udata *udata)
{
	struct rxe_srq *srq = to_rsrq(ibsrq);
	int err;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR) {
		err = rxe_srq_resize(srq, attr->max_wr,
				     mask & IB_SRQ_LIMIT ? &attr->srq_limit : NULL, udata);
		if (err)
			return err;
	}
	return mask & IB_SRQ_LIMIT ? rxe_srq_arm(srq, attr->srq_limit) : 0;
}

int rxe_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct rxe_srq *srq = to_rsrq(ibsrq);
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	attr->max_wr = srq->ring.mask;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = srq->limit;
	spin_unlock_irqrestore(&srq->lock, flags);
	return 0;
}

/* The core refuses while a QP uses it. */
int rxe_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct rxe_srq *srq = to_rsrq(ibsrq);

	rxe_ring_free(&srq->ring);
	rxe_limit_put(&to_rdev(ibsrq->device)->num_srq);
	return 0;
}

/* For kernel users; processes write the ring themselves. */
int rxe_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		      const struct ib_recv_wr **bad)
{
	struct rxe_srq *srq = to_rsrq(ibsrq);
	unsigned long flags;
	int err = 0;

	if (srq->user) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&srq->lock, flags);
	for (; wr; wr = wr->next) {
		err = rxe_rwqe_post(&srq->ring, &srq->prod, srq->max_sge, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return err;
}
