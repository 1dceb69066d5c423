// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: one element of the send queue to packets, as many as can go.  When it
 * is its turn, and what comes behind, is decided in rxe_req.c and rxe_req_ud.c.
 */

#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_req_run.h"

static void rxe_req_advance(struct rxe_qp *qp, const struct rxe_swqe *wqe, u32 pkts, u32 bytes)
{
	struct rxe_req *req = &qp->req;

	req->psn = roce_psn_add(req->psn, pkts);
	if (roce_psn_after(req->psn, req->end))
		req->end = req->psn;
	req->off += bytes;
	if (req->off == wqe->length) {
		if (qp->sq_sig_all || (wqe->flags & IB_SEND_SIGNALED))
			req->ask = true;
		req->next++;
		req->off = 0;
	}
}

/* First, middle, last or only, of what has payload. */
static u8 rxe_req_opcode(u32 wr_opcode, bool first, bool last)
{
	bool imm = wr_opcode == IB_WR_SEND_WITH_IMM || wr_opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	bool inv = wr_opcode == IB_WR_SEND_WITH_INV;
	bool send = wr_opcode == IB_WR_SEND || wr_opcode == IB_WR_SEND_WITH_IMM || inv;

	if (wr_opcode == IB_WR_ATOMIC_WRITE)
		return ROCE_OP_ATOMIC_WRITE;
	if (inv && last)
		return first ? ROCE_OP_SEND_ONLY_INV : ROCE_OP_SEND_LAST_INV;
	if (send) {
		if (first && last)
			return imm ? ROCE_OP_SEND_ONLY_IMM : ROCE_OP_SEND_ONLY;
		if (last)
			return imm ? ROCE_OP_SEND_LAST_IMM : ROCE_OP_SEND_LAST;
		return first ? ROCE_OP_SEND_FIRST : ROCE_OP_SEND_MIDDLE;
	}
	if (first && last)
		return imm ? ROCE_OP_WRITE_ONLY_IMM : ROCE_OP_WRITE_ONLY;
	if (last)
		return imm ? ROCE_OP_WRITE_LAST_IMM : ROCE_OP_WRITE_LAST;
	return first ? ROCE_OP_WRITE_FIRST : ROCE_OP_WRITE_MIDDLE;
}

/*
 * The payload of @num packets of equal length, from @off of the message on.
 * Returns how many are filled; @err says why the next one is not.
 */
static u32 rxe_req_copy(struct rxe_req_run *run, const struct rxe_swqe *wqe, u32 index, u32 off,
			u8 *to, u32 len, u32 stride, u32 num, int *err)
{
	u32 i;

	if (wqe->flags & IB_SEND_INLINE) {
		for (i = 0; i < num; i++)
			memcpy(to + i * stride, wqe->data + off + i * len, len);
		*err = 0;
		return num;
	}
	if (!run->sg_valid || run->sg_index != index) {
		rxe_sg_start(&run->sg, run->qp->pd, wqe->sge, wqe->num_sge, 0, off);
		run->sg_index = index;
		run->sg_valid = true;
	}
	i = rxe_sg_read_many(&run->sg, to, len, stride, num, err);
	if (likely(!*err))
		return i;
	if (*err == -EAGAIN)
		*err = rxe_sg_wait(&run->sg, &run->qp->req.fault);
	if (*err != -EAGAIN)
		rxe_sg_refused(&run->sg, run->qp, *err);
	return i;
}

int rxe_req_emit(struct rxe_req_run *run, struct rxe_pkt *pkt, const struct rxe_swqe *wqe,
		 u32 index, u32 off, u32 len)
{
	u8 *buf = rxe_tx_add_pkt(&run->tx, pkt, len);
	int err;

	if (!buf) {
		run->sg_valid = false;	/* the cursor stands at a packet that is skipped */
		return 0;
	}
	rxe_req_copy(run, wqe, index, off, buf, len, len, 1, &err);
	if (err) {
		rxe_tx_cancel(&run->tx, 1);
		run->waits = err == -EAGAIN;
	}
	return err;
}

/* What could not be read fails when its turn comes; what was sent before it stays. */
static void rxe_req_gather_failed(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	wqe->status = IB_WC_LOC_PROT_ERR;
	/* what went out before it has asked for no ACK: again, up to here */
	if (!rxe_qp_is_uc(qp))
		rxe_req_rewind(qp);
}

/* Full packets in the middle of a message that can go now, with one that asks for an ACK. */
static u32 rxe_req_num_middles(const struct rxe_qp *qp, const struct rxe_swqe *wqe, u32 limit)
{
	const struct rxe_req *req = &qp->req;
	u32 num, half = req->window / 2;

	if (!req->off)
		return 0;
	num = min((wqe->length - req->off - 1) / qp->mtu, limit);
	if (rxe_qp_is_uc(qp))
		return num;
	num = min_t(u32, num, req->window - roce_psn_diff(req->psn, req->una));
	return min(num, half > req->unasked ? half - req->unasked : 1);
}

/*
 * The short way for most packets of a long message: headers that differ in the
 * PSN alone.  Returns the number of packets; 0: take the long way.
 */
static u32 rxe_req_send_middles(struct rxe_req_run *run, struct rxe_swqe *wqe, u32 limit)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_req *req = &qp->req;
	struct rxe_pkt pkt = {
		.opcode	= rxe_qp_service(qp) | rxe_req_opcode(wqe->opcode, false, false),
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= req->psn,
	};
	u32 i, num = rxe_req_num_middles(qp, wqe, limit);
	u8 *buf;
	int err;

	if (num < 2)
		return 0;
	buf = rxe_tx_add_middles(&run->tx, &pkt, qp->mtu, &num);
	if (!buf)
		return 0;
	i = rxe_req_copy(run, wqe, req->next, req->off, buf, qp->mtu,
			 qp->mtu + RXE_MIDDLE_EXTRA, num, &err);
	if (i < num)
		rxe_tx_cancel(&run->tx, num - i);
	req->unasked += i;
	if (i && !rxe_qp_is_uc(qp) && req->unasked >= req->window / 2) {
		rxe_pkt_set_ackreq(rxe_tx_last(&run->tx));
		req->unasked = 0;
	}
	rxe_req_advance(qp, wqe, i, i * qp->mtu);
	run->waits = err == -EAGAIN;
	if (err && err != -EAGAIN)
		rxe_req_gather_failed(qp, wqe);
	return max(i, 1U);
}

static void rxe_req_send_data(struct rxe_req_run *run, struct rxe_swqe *wqe)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_req *req = &qp->req;
	u32 len = min(wqe->length - req->off, qp->mtu);
	bool last = req->off + len == wqe->length;
	struct rxe_pkt pkt = {
		.opcode	= rxe_qp_service(qp) | rxe_req_opcode(wqe->opcode, !req->off, last),
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= req->psn,
		.se	= last && (wqe->flags & IB_SEND_SOLICITED),
		.va	= wqe->remote_addr,
		.rkey	= wqe->rkey,
		.length	= wqe->length,
		.imm	= wqe->imm,
	};
	int err;

	if (!rxe_qp_is_uc(qp) && ++req->unasked >= req->window / 2) {
		pkt.ackreq = true;
		req->unasked = 0;
	}
	err = rxe_req_emit(run, &pkt, wqe, req->next, req->off, len);
	if (err == -EAGAIN) {
		if (pkt.ackreq)
			req->ask = true;
		else if (!rxe_qp_is_uc(qp))
			req->unasked--;
		return;
	}
	if (err) {
		rxe_req_gather_failed(qp, wqe);
		return;
	}
	if (rxe_swqe_is_rd_atomic(wqe))		/* ATOMIC WRITE */
		req->rd_out++;
	rxe_req_advance(qp, wqe, 1, len);
}

static void rxe_req_send_read(struct rxe_req_run *run, struct rxe_swqe *wqe)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_req *req = &qp->req;
	u32 part = rxe_req_read_part(wqe->length, req->off);
	struct rxe_pkt pkt = {
		.opcode	= ROCE_SERVICE_RC | ROCE_OP_READ_REQUEST,
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= req->psn,
		.va	= wqe->remote_addr + req->off,
		.rkey	= wqe->rkey,
		.length	= part,
	};

	rxe_tx_add_pkt(&run->tx, &pkt, 0);
	req->rd_out++;
	req->unasked = 0;
	rxe_req_advance(qp, wqe, rxe_num_pkts(part, qp->mtu), part);
}

/* What has no payload and one response: atomics and FLUSH. */
static void rxe_req_send_single(struct rxe_req_run *run, struct rxe_swqe *wqe)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_pkt pkt = {
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= qp->req.psn,
		.va	= wqe->remote_addr,
		.rkey	= wqe->rkey,
	};

	switch (wqe->opcode) {
	case IB_WR_FLUSH:
		pkt.opcode = ROCE_OP_FLUSH;
		pkt.length = wqe->flush.length;
		pkt.plt = wqe->flush.type;
		pkt.sel = wqe->flush.level;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		pkt.opcode = ROCE_OP_COMPARE_SWAP;
		pkt.swap_add = wqe->swap;
		pkt.compare = wqe->compare_add;
		break;
	default:
		pkt.opcode = ROCE_OP_FETCH_ADD;
		pkt.swap_add = wqe->compare_add;
	}
	rxe_tx_add_pkt(&run->tx, &pkt, 0);
	qp->req.rd_out++;
	qp->req.unasked = 0;
	rxe_req_advance(qp, wqe, 1, wqe->length);
}

u32 rxe_req_send_wqe(struct rxe_req_run *run, struct rxe_swqe *wqe, u32 limit)
{
	u32 sent;

	switch (wqe->opcode) {
	case IB_WR_RDMA_READ:
		rxe_req_send_read(run, wqe);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
	case IB_WR_FLUSH:
		rxe_req_send_single(run, wqe);
		break;
	default:
		sent = rxe_req_send_middles(run, wqe, limit);
		if (sent)
			return sent;
		rxe_req_send_data(run, wqe);
	}
	return 1;
}
