// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work queue elements: snapshot and validation. */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "rxe_ah.h"
#include "rxe_alloc.h"
#include "rxe_limits.h"
#include "rxe_qp.h"
#include "rxe_srq.h"
#include "rxe_stats.h"
#include "rxe_trace.h"
#include "rxe_wqe.h"

/* Elements copied from a user's ring in one go; what is left waits for the next round. */
#define RXE_SQ_FETCH_MAX	256

int rxe_sq_init(struct rxe_sq *sq, struct ib_qp_cap *cap, struct ib_udata *udata,
		struct mminfo *mi)
{
	/* an ATOMIC WRITE always brings its data along */
	u32 extra = max3((u32)(cap->max_send_sge * sizeof(struct ib_sge)), cap->max_inline_data,
			 (u32)sizeof(u64));
	u32 slots;
	int err;

	spin_lock_init(&sq->lock);
	sq->max_sge = cap->max_send_sge;
	sq->max_inline = extra;

	if (udata) {
		err = rxe_ring_alloc(&sq->ring, cap->max_send_wr,
				     sizeof(struct rxe_send_wqe) + extra);
		if (err)
			return err;
		slots = sq->ring.mask + 1;
		sq->max_wr = sq->ring.mask;
		err = rxe_ring_share(&sq->ring, udata, mi);
		if (err)
			goto err_ring;
	} else {
		slots = roundup_pow_of_two(max(cap->max_send_wr, 1U));
		sq->max_wr = cap->max_send_wr;
	}

	sq->mask = slots - 1;
	sq->stride = ALIGN(sizeof(struct rxe_swqe) + extra, 8);
	sq->wqes = rxe_user_array(slots, sq->stride);
	if (!sq->wqes) {
		err = -ENOMEM;
		goto err_ring;
	}
	cap->max_send_wr = sq->max_wr;
	cap->max_inline_data = sq->max_inline;
	return 0;

err_ring:
	rxe_ring_free(&sq->ring);
	return err;
}

void rxe_sq_fini(struct rxe_sq *sq)
{
	kvfree(sq->wqes);
	sq->wqes = NULL;
	rxe_ring_free(&sq->ring);
}

int rxe_rq_init(struct rxe_rq *rq, struct ib_qp_cap *cap, struct ib_udata *udata,
		struct mminfo *mi)
{
	int err;

	if (rq->srq) {		/* what is asked for does not count */
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
	}
	spin_lock_init(&rq->lock);
	rq->max_sge = cap->max_recv_sge;
	rq->cur.sge = kcalloc(max(rq->srq ? rq->srq->max_sge : rq->max_sge, 1U),
			      sizeof(*rq->cur.sge), RXE_GFP_USER);
	if (!rq->cur.sge)
		return -ENOMEM;
	if (rq->srq)
		return 0;

	err = rxe_ring_alloc(&rq->ring, cap->max_recv_wr, sizeof(struct rxe_recv_wqe) +
			     cap->max_recv_sge * sizeof(struct rxe_sge));
	if (err)
		goto err_sge;
	if (udata) {
		err = rxe_ring_share(&rq->ring, udata, mi);
		if (err)
			goto err_ring;
	}
	rq->max_wr = rq->ring.mask;
	cap->max_recv_wr = rq->max_wr;
	return 0;

err_ring:
	rxe_ring_free(&rq->ring);
err_sge:
	kfree(rq->cur.sge);
	rq->cur.sge = NULL;
	return err;
}

void rxe_rq_fini(struct rxe_rq *rq)
{
	rxe_ring_free(&rq->ring);
	kfree(rq->cur.sge);
	rq->cur.sge = NULL;
}

/* What may be posted to a QP of this type, and what it may carry. */
static bool rxe_swqe_opcode_ok(const struct rxe_qp *qp, u32 opcode, u32 flags)
{
	bool rc = rxe_qp_type(qp) == IB_QPT_RC, is_inline = flags & IB_SEND_INLINE;

	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return true;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return !rxe_qp_is_datagram(qp);
	case IB_WR_SEND_WITH_INV:
		return rc;
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return rc && !is_inline;
	case IB_WR_ATOMIC_WRITE:
		return rc && IB_DEVICE_ATOMIC_WRITE != 0;
	case IB_WR_FLUSH:
		return rc && !is_inline && IB_DEVICE_FLUSH_GLOBAL != 0;
	case IB_WR_BIND_MW:
		return qp->user && !rxe_qp_is_datagram(qp) && !is_inline;
	case IB_WR_REG_MR:	/* it names a kernel object */
		return !qp->user && !rxe_qp_is_datagram(qp) && !is_inline;
	case IB_WR_LOCAL_INV:
		return !rxe_qp_is_datagram(qp) && !is_inline;
	default:
		return false;
	}
}

void rxe_wqe_bad(const struct rxe_qp *qp, u64 wr_id, u32 opcode, enum rxe_bad_wqe why)
{
	rxe_count(qp->rxe, RXE_CNT_BAD_WQE);
	trace_rxe_bad_wqe(dev_name(&qp->rxe->ibdev.dev), qp->qpn, wr_id, opcode, why);
}

/* Return: the status that it completes with. */
static enum ib_wc_status rxe_swqe_bad(const struct rxe_qp *qp, const struct rxe_swqe *wqe,
				      enum rxe_bad_wqe why)
{
	rxe_wqe_bad(qp, wqe->wr_id, wqe->opcode, why);
	return why == RXE_BAD_LENGTH || why == RXE_BAD_INLINE ? IB_WC_LOC_LEN_ERR :
								IB_WC_LOC_QP_OP_ERR;
}

/* Sum the SGEs up: the length that user space filled in counts for nothing. */
static enum ib_wc_status rxe_swqe_set_length(const struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		length += wqe->sge[i].length;

	if (length > (rxe_qp_is_datagram(qp) ? qp->mtu : RXE_MAX_MSG_SZ))
		return rxe_swqe_bad(qp, wqe, RXE_BAD_LENGTH);
	if (rxe_swqe_is_atomic(wqe)) {
		if (length < sizeof(u64))
			return rxe_swqe_bad(qp, wqe, RXE_BAD_LENGTH);
		length = sizeof(u64);
	}
	if (wqe->opcode == IB_WR_ATOMIC_WRITE && length != sizeof(u64))
		return rxe_swqe_bad(qp, wqe, RXE_BAD_LENGTH);
	wqe->length = length;
	return IB_WC_SUCCESS;
}

static void rxe_swqe_init(struct rxe_swqe *wqe, u64 wr_id, u32 opcode, u32 flags, __be32 imm)
{
	wqe->wr_id = wr_id;
	wqe->opcode = opcode;
	wqe->flags = flags;
	wqe->imm = imm;
	wqe->length = 0;
	wqe->num_sge = 0;
	wqe->status = IB_WC_SUCCESS;
	wqe->started = false;
	wqe->path.sgid = NULL;
}

/*
 * ibv_wr_set_inline_data() leaves the flag to its caller, who need not give it
 * (ibv_wr_post(3)): what has a length, and no SGEs, has inline data.
 */
static bool rxe_swqe_is_inline(const struct rxe_swqe *wqe, const struct rxe_send_wqe *hdr)
{
	if (wqe->flags & IB_SEND_INLINE)
		return true;
	return !rxe_swqe_is_rd_atomic(wqe) && !hdr->dma.num_sge && hdr->dma.length;
}

/* @hdr is our copy of the fixed part; @dma is what follows it in the ring, still hostile. */
static enum ib_wc_status rxe_swqe_user_data(struct rxe_qp *qp, struct rxe_swqe *wqe,
					    const struct rxe_send_wqe *hdr, const void *dma)
{
	if (rxe_swqe_is_local(wqe) || wqe->opcode == IB_WR_FLUSH)
		return IB_WC_SUCCESS;

	if (wqe->opcode == IB_WR_ATOMIC_WRITE) {
		if (hdr->dma.length != sizeof(u64))
			return rxe_swqe_bad(qp, wqe, RXE_BAD_LENGTH);
		wqe->flags |= IB_SEND_INLINE;
	}
	if (rxe_swqe_is_inline(wqe, hdr)) {
		wqe->flags |= IB_SEND_INLINE;
		if (hdr->dma.length > qp->sq.max_inline)
			return rxe_swqe_bad(qp, wqe, RXE_BAD_INLINE);
		if (rxe_qp_is_datagram(qp) && hdr->dma.length > qp->mtu)
			return rxe_swqe_bad(qp, wqe, RXE_BAD_LENGTH);
		memcpy(wqe->data, dma, hdr->dma.length);
		wqe->length = hdr->dma.length;
		return IB_WC_SUCCESS;
	}

	if (hdr->dma.num_sge > qp->sq.max_sge)
		return rxe_swqe_bad(qp, wqe, RXE_BAD_NUM_SGE);
	BUILD_BUG_ON(sizeof(struct ib_sge) != sizeof(struct rxe_sge));
	memcpy(wqe->sge, dma, hdr->dma.num_sge * sizeof(*wqe->sge));
	wqe->num_sge = hdr->dma.num_sge;
	return rxe_swqe_set_length(qp, wqe);
}

/* What it is about on the other side, or, for local operations, on this one. */
static void rxe_swqe_user_remote(struct rxe_swqe *wqe, const struct rxe_send_wqe *hdr)
{
	const struct rxe_send_wr *wr = &hdr->wr;

	switch (wqe->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		break;
	case IB_WR_FLUSH:
		wqe->remote_addr = wr->wr.flush.remote_addr;
		wqe->rkey = wr->wr.flush.rkey;
		/* the provider has the length here, not in wr.flush */
		wqe->flush.length = hdr->dma.length;
		wqe->flush.type = wr->wr.flush.type;
		wqe->flush.level = wr->wr.flush.level;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_BIND_MW:
		wqe->mw.addr = wr->wr.mw.addr;
		wqe->mw.length = wr->wr.mw.length;
		wqe->mw.key = wr->wr.mw.mw_rkey;
		wqe->mw.new_key = wr->wr.mw.rkey;
		wqe->mw.lkey = wr->wr.mw.mr_lkey;
		wqe->mw.access = wr->wr.mw.access;
		break;
	default:
		wqe->remote_addr = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
	}
}

static enum ib_wc_status rxe_swqe_from_user(struct rxe_qp *qp, struct rxe_swqe *wqe,
					    const struct rxe_send_wqe *uwqe)
{
	struct rxe_send_wqe hdr;

	memcpy(&hdr, uwqe, sizeof(hdr));
	barrier();	/* all decisions are made on the copy */

	rxe_swqe_init(wqe, hdr.wr.wr_id, hdr.wr.opcode, hdr.wr.send_flags, hdr.wr.ex.imm_data);
	if (!rxe_swqe_opcode_ok(qp, wqe->opcode, wqe->flags))
		return rxe_swqe_bad(qp, wqe, RXE_BAD_OPCODE);

	if (rxe_qp_is_datagram(qp)) {
		wqe->dqpn = hdr.wr.wr.ud.remote_qpn & ROCE_QPN_MASK;
		wqe->qkey = hdr.wr.wr.ud.remote_qkey;
		if (rxe_ah_path(qp->pd, hdr.wr.wr.ud.ah_num, &wqe->path)) {
			wqe->path.sgid = NULL;
			return rxe_swqe_bad(qp, wqe, RXE_BAD_AH);
		}
	} else {
		rxe_swqe_user_remote(wqe, &hdr);
	}
	return rxe_swqe_user_data(qp, wqe, &hdr, uwqe->dma.inline_data);
}

bool rxe_sq_fetch(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;
	unsigned int n;

	if (!qp->user)
		return false;

	for (n = 0; n < RXE_SQ_FETCH_MAX; n++) {
		u32 used = sq->head - sq->tail;
		struct rxe_swqe *wqe;

		/* ring.index stands at the tail: slots are given back by rxe_sq_pop() */
		if (used >= rxe_ring_pending(&sq->ring))
			return false;
		wqe = rxe_swqe(sq, sq->head);
		wqe->status = rxe_swqe_from_user(qp, wqe,
						 rxe_ring_elem(&sq->ring, sq->ring.index + used));
		sq->head++;
	}
	return true;
}

/* Datagram WQEs own a path; for others the same bytes hold something else. */
static void rxe_swqe_fini(const struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	if (rxe_qp_is_datagram(qp))
		rxe_path_fini(&wqe->path);
}

void rxe_sq_pop(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;

	rxe_swqe_fini(qp, rxe_swqe(sq, sq->tail));
	/* nothing of the element is used any more: pairs with rxe_sq_post() */
	smp_store_release(&sq->tail, sq->tail + 1);
	if (qp->user)
		rxe_ring_consume(&sq->ring);
}

void rxe_sq_reset(struct rxe_qp *qp)
{
	struct rxe_sq *sq = &qp->sq;

	while (sq->tail != sq->head)
		rxe_sq_pop(qp);
	if (!qp->user)
		return;
	sq->ring.index = (sq->ring.index + rxe_ring_pending(&sq->ring)) & sq->ring.mask;
	/* pairs with the producer's acquire in user space */
	smp_store_release(&sq->ring.buf->consumer_index, sq->ring.index);
}

void rxe_rq_reset(struct rxe_qp *qp)
{
	struct rxe_rq *rq = &qp->rq;

	rq->cur.valid = false;
	if (rq->srq)
		return;
	rq->ring.index = (rq->ring.index + rxe_ring_pending(&rq->ring)) & rq->ring.mask;
	/* pairs with the producer's acquire in user space, or in rxe_rq_post() */
	smp_store_release(&rq->ring.buf->consumer_index, rq->ring.index);
}

int rxe_rwqe_copy(struct rxe_rwqe *wqe, const struct rxe_ring *ring, u32 max_sge)
{
	const struct rxe_recv_wqe *uwqe = rxe_ring_elem(ring, ring->index);
	u32 i, num_sge;

	wqe->valid = true;
	wqe->wr_id = READ_ONCE(uwqe->wr_id);
	wqe->length = 0;
	wqe->num_sge = 0;
	num_sge = READ_ONCE(uwqe->dma.num_sge);
	if (num_sge > max_sge)
		return IB_WC_LOC_QP_OP_ERR;

	memcpy(wqe->sge, uwqe->dma.sge, num_sge * sizeof(*wqe->sge));
	barrier();	/* lengths come from the copy */
	for (i = 0; i < num_sge; i++)
		wqe->length += wqe->sge[i].length;
	wqe->num_sge = num_sge;
	return IB_WC_SUCCESS;
}

int rxe_rq_get(struct rxe_qp *qp)
{
	struct rxe_rq *rq = &qp->rq;

	if (rq->cur.valid)
		return IB_WC_SUCCESS;
	if (rq->srq)
		return rxe_srq_get(rq->srq, &rq->cur);
	if (!rxe_ring_pending(&rq->ring))
		return RXE_RQ_EMPTY;
	return rxe_rwqe_copy(&rq->cur, &rq->ring, rq->max_sge);
}

void rxe_rq_pop(struct rxe_qp *qp)
{
	qp->rq.cur.valid = false;
	if (!qp->rq.srq)
		rxe_ring_consume(&qp->rq.ring);
}

/* A kernel user's inline data: SGE addresses are kernel pointers. */
static int rxe_swqe_kernel_inline(const struct rxe_sq *sq, struct rxe_swqe *wqe,
				  const struct ib_send_wr *wr)
{
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > sq->max_inline - length)
			return -EINVAL;
		memcpy(wqe->data + length, (void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	wqe->length = length;
	return 0;
}

/* As rxe_swqe_user_remote(). */
static void rxe_swqe_kernel_remote(const struct rxe_qp *qp, struct rxe_swqe *wqe,
				   const struct ib_send_wr *wr)
{
	if (rxe_qp_is_datagram(qp)) {
		const struct ib_ud_wr *ud = ud_wr(wr);

		wqe->dqpn = ud->remote_qpn & ROCE_QPN_MASK;
		wqe->qkey = ud->remote_qkey;
		rxe_path_copy(&wqe->path, &to_rah(ud->ah)->path);
		return;
	}

	switch (wqe->opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_addr = atomic_wr(wr)->remote_addr;
		wqe->rkey = atomic_wr(wr)->rkey;
		wqe->compare_add = atomic_wr(wr)->compare_add;
		wqe->swap = atomic_wr(wr)->swap;
		break;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->rkey = wr->ex.invalidate_rkey;
		break;
	case IB_WR_REG_MR:
		wqe->reg.mr = reg_wr(wr)->mr;
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_ATOMIC_WRITE:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	default:	/* SEND */
		break;
	}
}

static int rxe_swqe_from_kernel(struct rxe_qp *qp, struct rxe_swqe *wqe,
				const struct ib_send_wr *wr)
{
	rxe_swqe_init(wqe, wr->wr_id, wr->opcode, wr->send_flags, wr->ex.imm_data);
	/* the core has no WR for what a FLUSH flushes */
	if (!rxe_swqe_opcode_ok(qp, wqe->opcode, wqe->flags) || wqe->opcode == IB_WR_FLUSH)
		return -EOPNOTSUPP;
	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;

	if (wqe->flags & IB_SEND_INLINE) {
		int err = rxe_swqe_kernel_inline(&qp->sq, wqe, wr);

		if (err)
			return err;
	} else {
		memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(*wqe->sge));
		wqe->num_sge = wr->num_sge;
		if (rxe_swqe_set_length(qp, wqe) != IB_WC_SUCCESS)
			return -EINVAL;
	}

	rxe_swqe_kernel_remote(qp, wqe, wr);
	return 0;
}

int rxe_sq_post(struct rxe_qp *qp, const struct ib_send_wr *wr)
{
	struct rxe_sq *sq = &qp->sq;
	int err;

	lockdep_assert_held(&sq->lock);

	/* pairs with the release in rxe_sq_pop() */
	if (sq->head - smp_load_acquire(&sq->tail) >= sq->max_wr)
		return -ENOMEM;
	err = rxe_swqe_from_kernel(qp, rxe_swqe(sq, sq->head), wr);
	if (err)
		return err;
	/* pairs with the acquire in rxe_sq_head() */
	smp_store_release(&sq->head, sq->head + 1);
	return 0;
}

int rxe_rwqe_post(struct rxe_ring *ring, u32 *prod, u32 max_sge, const struct ib_recv_wr *wr)
{
	struct rxe_queue_buf *buf = ring->buf;
	struct rxe_recv_wqe *wqe;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	/* pairs with the release in rxe_ring_consume() */
	if (((*prod + 1 - smp_load_acquire(&buf->consumer_index)) & ring->mask) == 0)
		return -ENOMEM;

	wqe = rxe_ring_elem(ring, *prod);
	wqe->wr_id = wr->wr_id;
	wqe->dma.num_sge = wr->num_sge;
	memcpy(wqe->dma.sge, wr->sg_list, wr->num_sge * sizeof(*wr->sg_list));
	*prod = (*prod + 1) & ring->mask;
	/* pairs with the acquire in rxe_ring_pending() */
	smp_store_release(&buf->producer_index, *prod);
	return 0;
}

int rxe_rq_post(struct rxe_qp *qp, const struct ib_recv_wr *wr)
{
	struct rxe_rq *rq = &qp->rq;

	lockdep_assert_held(&rq->lock);
	return rxe_rwqe_post(&rq->ring, &rq->prod, rq->max_sge, wr);
}
