// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <rdma/uverbs_ioctl.h>
#include "rxe_cq.h"
#include "rxe_device.h"
#include "rxe_qp.h"
#include "rxe_trace.h"

/* struct ib_uverbs_wc.wc_flags are those of struct ibv_wc, not the kernel's. */
#define RXE_UWC_GRH		BIT(0)
#define RXE_UWC_WITH_IMM	BIT(1)
#define RXE_UWC_WITH_INV	BIT(3)

/* How long a WQE posted to a QP in ERR may wait for its flush. */
#define RXE_WATCH_MIN		msecs_to_jiffies(4)
#define RXE_WATCH_MAX		HZ

/* Calls completion handlers of kernel users. */
static struct workqueue_struct *rxe_cq_wq;

/*
 * The librxe of rdma-core 44 goes one beyond the producer when ibv_next_poll()
 * meets the end.  With one slot more left empty than a ring needs, that is never
 * the index that the user had when the queue was full.
 */
#define RXE_CQ_SPARE	1

/* Completions that fit. */
static u32 rxe_cq_room(const struct rxe_ring *ring)
{
	return ring->mask - RXE_CQ_SPARE;
}

/*
 * Completions that wait for the consumer.
 *
 * A user's consumer index is taken for what it can be at most: one beyond the
 * producer would read as a full queue.
 */
static u32 rxe_cq_used(struct rxe_cq *cq)
{
	const struct rxe_ring *ring = &cq->ring;
	u32 used = (ring->index - cq->consumer) & ring->mask;
	u32 eaten;

	lockdep_assert_held(&cq->lock);
	if (!cq->user)
		return used;

	/* Pairs with the release by user space after it has read its entries. */
	eaten = smp_load_acquire(&ring->buf->consumer_index);
	eaten = min((eaten - cq->consumer) & ring->mask, used);
	cq->consumer = (cq->consumer + eaten) & ring->mask;
	cq->taken += eaten;
	return used - eaten;
}

u32 rxe_cq_pending(struct rxe_cq *cq)
{
	unsigned long flags;
	u32 used;

	spin_lock_irqsave(&cq->lock, flags);
	used = rxe_cq_used(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	return used;
}

u32 rxe_cq_taken(struct rxe_cq *cq)
{
	unsigned long flags;
	u32 taken;

	spin_lock_irqsave(&cq->lock, flags);
	rxe_cq_used(cq);
	taken = cq->taken;
	spin_unlock_irqrestore(&cq->lock, flags);
	return taken;
}

static void rxe_cq_write_user(struct ib_uverbs_wc *uwc, const struct ib_wc *wc)
{
	*uwc = (struct ib_uverbs_wc) {
		.wr_id		= wc->wr_id,
		.status		= wc->status,
		.opcode		= wc->opcode,
		.vendor_err	= wc->vendor_err,
		.byte_len	= wc->byte_len,
		.qp_num		= wc->qp->qp_num,
		.src_qp		= wc->src_qp,
		.pkey_index	= wc->pkey_index,
		.slid		= wc->slid,
		.sl		= wc->sl,
		.dlid_path_bits	= wc->dlid_path_bits,
		.port_num	= wc->port_num,
	};
	if (wc->wc_flags & IB_WC_GRH)
		uwc->wc_flags |= RXE_UWC_GRH;
	if (wc->wc_flags & IB_WC_WITH_IMM) {
		uwc->wc_flags |= RXE_UWC_WITH_IMM;
		uwc->ex.imm_data = wc->ex.imm_data;
	} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		uwc->wc_flags |= RXE_UWC_WITH_INV;
		uwc->ex.invalidate_rkey = wc->ex.invalidate_rkey;
	}
}

static void rxe_cq_write(struct rxe_cq *cq, const struct ib_wc *wc)
{
	void *slot = rxe_ring_elem(&cq->ring, cq->ring.index);

	lockdep_assert_held(&cq->lock);
	if (cq->user)
		rxe_cq_write_user(slot, wc);
	else
		memcpy(slot, wc, sizeof(*wc));
	rxe_ring_publish(&cq->ring);
}

/* Is this the completion that somebody waits for? */
static bool rxe_cq_disarm(struct rxe_cq *cq, bool solicited)
{
	lockdep_assert_held(&cq->lock);
	if (!cq->armed || (cq->armed_solicited && !solicited))
		return false;
	cq->armed = false;
	return true;
}

/* Context: any, no lock of ours. */
static void rxe_cq_signal(struct rxe_cq *cq, bool notify, bool error)
{
	struct ib_cq *ibcq = &cq->ibcq;
	struct ib_event event = {
		.device		= ibcq->device,
		.element.cq	= ibcq,
		.event		= IB_EVENT_CQ_ERR,
	};

	if (error && ibcq->event_handler)
		ibcq->event_handler(&event, ibcq->cq_context);
	if (notify && ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

/* A work item never runs twice at a time: one handler at a time for each CQ. */
static void rxe_cq_work(struct work_struct *work)
{
	struct rxe_cq *cq = container_of(work, struct rxe_cq, work);
	bool notify, error;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	notify = cq->notify_due;
	error = cq->error_due;
	cq->notify_due = false;
	cq->error_due = false;
	spin_unlock_irqrestore(&cq->lock, flags);

	/* Handlers are written for the interrupts of hardware. */
	local_bh_disable();
	rxe_cq_signal(cq, notify, error);
	local_bh_enable();
}

int rxe_cq_post(struct rxe_cq *cq, const struct ib_wc *wc, bool solicited)
{
	bool lost, notify = false, error = false;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	lost = rxe_cq_used(cq) == rxe_cq_room(&cq->ring);
	if (lost) {
		error = !cq->overflowed;
		cq->overflowed = true;
	} else {
		rxe_cq_write(cq, wc);
		notify = rxe_cq_disarm(cq, solicited);
	}
	if (!cq->user && (notify || error)) {
		cq->notify_due |= notify;
		cq->error_due |= error;
		queue_work(rxe_cq_wq, &cq->work);
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (lost)
		trace_rxe_cq_overflow(dev_name(&cq->ibcq.device->dev), wc->qp->qp_num,
				      cq->ibcq.cqe);
	if (cq->user && (notify || error))
		rxe_cq_signal(cq, notify, error);
	return lost ? -ENOSPC : 0;
}

void rxe_cq_clean(struct rxe_cq *cq, const struct ib_qp *qp)
{
	struct rxe_ring *ring = &cq->ring;
	const struct ib_wc *wc;
	unsigned long flags;
	u32 from, to;

	if (cq->user)
		return;

	spin_lock_irqsave(&cq->lock, flags);
	to = cq->consumer;
	for (from = to; from != ring->index; from = (from + 1) & ring->mask) {
		wc = rxe_ring_elem(ring, from);
		if (wc->qp == qp)
			continue;
		if (to != from)
			memcpy(rxe_ring_elem(ring, to), wc, sizeof(*wc));
		to = (to + 1) & ring->mask;
	}
	ring->index = to;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* True: a QP in ERR has a receive WQE, and will flush it. */
static bool rxe_cq_look(struct rxe_cq *cq)
{
	struct rxe_qp *qp;
	bool found = false;

	lockdep_assert_held(&cq->lock);
	list_for_each_entry(qp, &cq->watched, watch) {
		if (!rxe_ring_pending(&qp->rq.ring))
			continue;
		found = true;
		rxe_exec_kick(&qp->resp.exec);	/* IRQs are off: runs later */
	}
	return found;
}

static void rxe_cq_watch_work(struct work_struct *work)
{
	struct rxe_cq *cq = container_of(work, struct rxe_cq, watch_work.work);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (rxe_cq_look(cq))
		cq->watch_delay = RXE_WATCH_MIN;
	else
		cq->watch_delay = min_t(unsigned long, 2 * cq->watch_delay, RXE_WATCH_MAX);
	if (!list_empty(&cq->watched))
		queue_delayed_work(system_percpu_wq, &cq->watch_work, cq->watch_delay);
	spin_unlock_irqrestore(&cq->lock, flags);
}

void rxe_cq_watch(struct rxe_cq *cq, struct rxe_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (list_empty(&qp->watch)) {
		list_add_tail(&qp->watch, &cq->watched);
		cq->watch_delay = RXE_WATCH_MIN;
		mod_delayed_work(system_percpu_wq, &cq->watch_work, cq->watch_delay);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

void rxe_cq_unwatch(struct rxe_cq *cq, struct rxe_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	list_del_init(&qp->watch);
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* For kernel users; processes read the ring themselves. */
int rxe_poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct rxe_cq *cq = to_rcq(ibcq);
	unsigned long flags;
	int n;

	if (cq->user)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < num && cq->consumer != cq->ring.index; n++) {
		memcpy(&wc[n], rxe_ring_elem(&cq->ring, cq->consumer), sizeof(*wc));
		cq->consumer = (cq->consumer + 1) & cq->ring.mask;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int rxe_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct rxe_cq *cq = to_rcq(ibcq);
	unsigned long irqflags;
	int missed;

	spin_lock_irqsave(&cq->lock, irqflags);
	/* Who asked for any completion is not content with solicited ones (IBTA 11.4.2.2). */
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		cq->armed_solicited = false;
	else if (!cq->armed)
		cq->armed_solicited = true;
	cq->armed = true;
	rxe_cq_look(cq);
	missed = (flags & IB_CQ_REPORT_MISSED_EVENTS) && rxe_cq_used(cq);
	spin_unlock_irqrestore(&cq->lock, irqflags);
	return missed;
}

static int rxe_cq_check_attr(const struct ib_device *ibdev, const struct ib_cq_init_attr *attr,
			     const struct ib_udata *udata)
{
	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > RXE_MAX_CQE)
		return -EINVAL;
	if (attr->comp_vector >= ibdev->num_comp_vectors)
		return -EINVAL;
	if (udata && udata->outlen < sizeof(struct rxe_create_cq_resp))
		return -EINVAL;
	return 0;
}

static int rxe_cq_share(struct rxe_cq *cq, struct ib_udata *udata)
{
	struct rxe_create_cq_resp resp = {};
	int err;

	err = rxe_ring_share(&cq->ring, udata, &resp.mi);
	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

int rxe_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct rxe_dev *rxe = to_rdev(ibcq->device);
	struct rxe_cq *cq = to_rcq(ibcq);
	int err;

	err = rxe_cq_check_attr(&rxe->ibdev, attr, udata);
	if (err)
		return err;
	if (!rxe_limit_get(&rxe->num_cq, RXE_MAX_CQ))
		return -ENOMEM;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resizing);
	INIT_WORK(&cq->work, rxe_cq_work);
	INIT_LIST_HEAD(&cq->watched);
	INIT_DELAYED_WORK(&cq->watch_work, rxe_cq_watch_work);
	cq->user = udata;
	err = rxe_ring_alloc(&cq->ring, attr->cqe + RXE_CQ_SPARE,
			     udata ? sizeof(struct ib_uverbs_wc) : sizeof(struct ib_wc));
	if (err)
		goto limit;
	if (udata) {
		err = rxe_cq_share(cq, udata);
		if (err)
			goto ring;
	}
	ibcq->cqe = rxe_cq_room(&cq->ring);
	return 0;
ring:
	rxe_ring_free(&cq->ring);
limit:
	rxe_limit_put(&rxe->num_cq);
	return err;
}

/*
 * Copy what waits into @ring, without the lock for more than a look.  A completion that
 * is taken meanwhile may be written over, here and there: nobody looks at it any more.
 * Returns how many are copied, and with @taken what had been taken before.
 */
static u32 rxe_cq_copy_ahead(struct rxe_cq *cq, struct rxe_ring *ring, u32 *taken)
{
	unsigned long flags;
	u32 used, first;

	lockdep_assert_held(&cq->resizing);

	spin_lock_irqsave(&cq->lock, flags);
	used = min(rxe_cq_used(cq), rxe_cq_room(ring));
	first = cq->consumer;
	*taken = cq->taken;
	spin_unlock_irqrestore(&cq->lock, flags);
	rxe_ring_move(ring, 0, &cq->ring, first, used);
	return used;
}

/*
 * Put @ring, into which @ahead completions were copied when @taken had been taken, in
 * its place, with what else waits; @ring is the old one then.
 */
static int rxe_cq_swap(struct rxe_cq *cq, struct rxe_ring *ring, u32 ahead, u32 taken)
{
	u32 used = rxe_cq_used(cq);
	u32 first = min(cq->taken - taken, ahead);	/* in the new ring */

	lockdep_assert_held(&cq->lock);

	if (used > rxe_cq_room(ring))
		return -EINVAL;
	ahead -= first;
	rxe_ring_move(ring, first + ahead, &cq->ring, cq->consumer + ahead, used - ahead);
	ring->index = (first + used) & ring->mask;
	ring->buf->consumer_index = first;
	ring->buf->producer_index = ring->index;
	swap(*ring, cq->ring);
	cq->consumer = first;
	cq->ibcq.cqe = rxe_cq_room(&cq->ring);
	return 0;
}

/*
 * What can sleep, and what takes long, is done before the lock is taken: each completion
 * is in the old ring, and moved, or in the new one.  The old ring lives in the process
 * until it is unmapped there.
 */
int rxe_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe, struct ib_udata *udata)
{
	struct rxe_resize_cq_resp resp = {};
	struct rxe_cq *cq = to_rcq(ibcq);
	struct rxe_ring ring;
	unsigned long flags;
	u32 ahead, taken;
	int err;

	if (!cqe || cqe > RXE_MAX_CQE || udata->outlen < sizeof(resp))
		return -EINVAL;
	err = rxe_ring_alloc(&ring, cqe + RXE_CQ_SPARE, sizeof(struct ib_uverbs_wc));
	if (err)
		return err;
	err = rxe_ring_share(&ring, udata, &resp.mi);
	if (!err)
		err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!err) {
		mutex_lock(&cq->resizing);
		ahead = rxe_cq_copy_ahead(cq, &ring, &taken);
		spin_lock_irqsave(&cq->lock, flags);
		err = rxe_cq_swap(cq, &ring, ahead, taken);
		spin_unlock_irqrestore(&cq->lock, flags);
		mutex_unlock(&cq->resizing);
	}
	rxe_ring_free(&ring);
	return err;
}

/* The core refuses while a QP uses the CQ: nothing is posted any more. */
int rxe_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct rxe_cq *cq = to_rcq(ibcq);

	cancel_work_sync(&cq->work);
	cancel_delayed_work_sync(&cq->watch_work);
	rxe_ring_free(&cq->ring);
	rxe_limit_put(&to_rdev(ibcq->device)->num_cq);
	return 0;
}

int __init rxe_cq_module_init(void)
{
	rxe_cq_wq = alloc_workqueue("rxe_cq", WQ_BH | WQ_PERCPU, 0);
	return rxe_cq_wq ? 0 : -ENOMEM;
}

void rxe_cq_module_exit(void)
{
	destroy_workqueue(rxe_cq_wq);
}
