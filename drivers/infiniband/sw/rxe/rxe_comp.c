// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completer: responses to completions. */

#include "rxe_comp.h"
#include "rxe_copy.h"
#include "rxe_cq.h"
#include "rxe_packet.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/* Packets of one run; then others may have the CPU. */
#define RXE_COMP_BUDGET		1024

/**
 * struct rxe_comp_run - what one run of the completer has at hand
 * @qp:		QP
 * @sg:		place in the SGEs of the READ @sg_index
 * @sg_index:	element that @sg belongs to
 * @sg_psn:	PSN of the response that @sg stands at
 * @sg_valid:	@sg is set up
 * @waits:	a page must be faulted in before it can go on
 */
struct rxe_comp_run {
	struct rxe_qp		*qp;
	struct rxe_sg_cursor	sg;
	u32			sg_index;
	struct roce_psn		sg_psn;
	bool			sg_valid;
	bool			waits;
};

static const enum ib_wc_opcode rxe_wc_opcode[] = {
	[IB_WR_SEND]			= IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM]		= IB_WC_SEND,
	[IB_WR_RDMA_WRITE]		= IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM]	= IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ]		= IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP]	= IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD]	= IB_WC_FETCH_ADD,
	[IB_WR_SEND_WITH_INV]		= IB_WC_SEND,
	[IB_WR_FLUSH]			= IB_WC_FLUSH,
	[IB_WR_ATOMIC_WRITE]		= IB_WC_ATOMIC_WRITE,
	[IB_WR_BIND_MW]			= IB_WC_BIND_MW,
	[IB_WR_LOCAL_INV]		= IB_WC_LOCAL_INV,
	[IB_WR_REG_MR]			= IB_WC_REG_MR,
};

/* Oldest element that has been sent at least in part, or NULL. */
static struct rxe_swqe *rxe_comp_tail(struct rxe_qp *qp)
{
	struct rxe_swqe *wqe = rxe_swqe(&qp->sq, qp->sq.tail);

	if (qp->sq.tail == rxe_sq_head(&qp->sq) || !wqe->started)
		return NULL;
	return wqe;
}

static void rxe_comp_one(struct rxe_qp *qp, enum ib_wc_status status)
{
	struct rxe_sq *sq = &qp->sq;
	const struct rxe_swqe *wqe = rxe_swqe(sq, sq->tail);
	bool failed = status != IB_WC_SUCCESS;
	bool report = failed || qp->sq_sig_all || (wqe->flags & IB_SEND_SIGNALED);
	struct ib_wc wc = {
		.wr_id	= wqe->wr_id,
		.status	= status,
		.qp	= &qp->ibqp,
	};

	if (wqe->opcode < ARRAY_SIZE(rxe_wc_opcode))
		wc.opcode = rxe_wc_opcode[wqe->opcode];
	if (rxe_swqe_is_rd_atomic(wqe)) {
		wc.byte_len = wqe->length;
		if (wqe->started)
			qp->req.reads--;
	}
	if (!failed && wc.opcode == IB_WC_SEND)
		rxe_count(qp->rxe, RXE_CNT_RDMA_SEND);

	if (qp->req.next == sq->tail) {
		qp->req.next++;
		qp->req.off = 0;
	}
	/* first the slot: whoever sees the completion may post again */
	rxe_sq_pop(qp);
	if (report && rxe_cq_post(qp->scq, &wc, failed))
		rxe_qp_set_fatal(qp, RXE_QP_WHY_CQ_OVERFLOW);
}

void rxe_comp_done(struct rxe_qp *qp, enum ib_wc_status status)
{
	const struct rxe_swqe *wqe;

	rxe_comp_one(qp, status);
	/* local operations behind it were done in their turn */
	while (status == IB_WC_SUCCESS && (wqe = rxe_comp_tail(qp)) && rxe_swqe_is_local(wqe))
		rxe_comp_one(qp, IB_WC_SUCCESS);
}

void rxe_comp_fail(struct rxe_qp *qp, enum ib_wc_status status)
{
	/* the state first: whoever sees the completion sees the error state */
	rxe_qp_set_error(qp, status);
	if (qp->sq.tail != rxe_sq_head(&qp->sq))
		rxe_comp_done(qp, status);
}

static void rxe_comp_una(struct rxe_qp *qp, struct roce_psn una)
{
	rxe_req_acked(qp, roce_psn_diff(una, qp->req.una));
	qp->req.una = una;
	qp->req.progress = true;
	rxe_token_acked(&qp->token, una);
	rxe_retry_progress(qp);
}

/*
 * Everything up to @psn has been acknowledged.  Returns false when a READ or
 * an atomic is in the way: its responses have been lost.
 */
static bool rxe_comp_ack(struct rxe_qp *qp, struct roce_psn psn)
{
	struct rxe_swqe *wqe;

	while ((wqe = rxe_comp_tail(qp)) && !roce_psn_before(psn, qp->req.una)) {
		if (rxe_swqe_is_rd_atomic(wqe))
			return false;
		if (roce_psn_before(psn, wqe->last_psn)) {
			rxe_comp_una(qp, roce_psn_add(psn, 1));
			break;
		}
		rxe_comp_una(qp, roce_psn_add(wqe->last_psn, 1));
		rxe_comp_done(qp, IB_WC_SUCCESS);
	}

	/* an ACK of what is about to be sent again: skip it */
	if (roce_psn_before(qp->req.psn, qp->req.una))
		rxe_req_seek_una(qp);
	return true;
}

static enum ib_wc_status rxe_comp_nak_status(u8 code)
{
	switch (code) {
	case ROCE_NAK_INVALID_REQ:
		return IB_WC_REM_INV_REQ_ERR;
	case ROCE_NAK_REM_ACCESS:
		return IB_WC_REM_ACCESS_ERR;
	case ROCE_NAK_REM_OP:
		return IB_WC_REM_OP_ERR;
	default:
		return IB_WC_BAD_RESP_ERR;
	}
}

static void rxe_comp_nak(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	u8 code = pkt->syndrome & ROCE_AETH_VALUE_MASK;

	trace_rxe_nak_rcvd(dev_name(&qp->rxe->ibdev.dev), qp->qpn, pkt->psn.v, pkt->syndrome);
	/* what came before the packet in question has arrived */
	if (!rxe_comp_ack(qp, roce_psn_add(pkt->psn, -1))) {
		rxe_retry_from_una(qp, "implied");
		return;
	}

	if ((pkt->syndrome & ROCE_AETH_CLASS_MASK) == ROCE_AETH_RNR) {
		rxe_count(qp->rxe, RXE_CNT_RCV_RNR);
		rxe_retry_rnr(qp, code);
	} else if (code == ROCE_NAK_PSN_SEQ) {
		rxe_count(qp->rxe, RXE_CNT_RCV_SEQ_ERR);
		rxe_retry_from_una(qp, "sequence");
	} else {
		rxe_comp_fail(qp, rxe_comp_nak_status(code));
	}
}

static void rxe_comp_acknowledge(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	switch (pkt->syndrome & ROCE_AETH_CLASS_MASK) {
	case ROCE_AETH_ACK:
		if (!rxe_comp_ack(qp, pkt->psn))
			rxe_retry_from_una(qp, "implied");
		break;
	case ROCE_AETH_RNR:
	case ROCE_AETH_NAK:
		rxe_comp_nak(qp, pkt);
		break;
	default:
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_OPCODE);
	}
}

/*
 * Data of @num responses of equal length, from @psn and @off of the message on.
 * Returns how many are stored; if not all, the next one could not be, and either
 * @waits is set or rxe_comp_store_failed() is to be called.
 */
static u32 rxe_comp_scatter(struct rxe_comp_run *run, struct rxe_swqe *wqe, struct roce_psn psn,
			    u32 off, const void *data, u32 len, u32 stride, u32 num)
{
	struct rxe_qp *qp = run->qp;
	int err;
	u32 i;

	if (!run->sg_valid || run->sg_index != qp->sq.tail || !roce_psn_eq(run->sg_psn, psn)) {
		rxe_sg_start(&run->sg, qp->pd, wqe->sge, wqe->num_sge, IB_ACCESS_LOCAL_WRITE, off);
		run->sg_index = qp->sq.tail;
		run->sg_valid = true;
	}
	i = rxe_sg_write_many(&run->sg, data, len, stride, num, &err);
	run->sg_psn = roce_psn_add(psn, i);
	if (likely(!err))
		return i;
	if (err == -EAGAIN)
		err = rxe_sg_wait(&run->sg, &qp->req.fault);
	run->waits = err == -EAGAIN;
	if (!run->waits)
		rxe_sg_refused(&run->sg, qp, err);
	return i;
}

static void rxe_comp_store_failed(struct rxe_comp_run *run)
{
	if (!run->waits)
		rxe_comp_fail(run->qp, IB_WC_LOC_PROT_ERR);
}

/* The element that a response with data belongs to, or NULL: lost or stale. */
static struct rxe_swqe *rxe_comp_responded(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	struct rxe_swqe *wqe;

	/* a response acknowledges everything before it */
	if (!rxe_comp_ack(qp, roce_psn_add(pkt->psn, -1))) {
		rxe_retry_from_una(qp, "implied");
		return NULL;
	}
	wqe = rxe_comp_tail(qp);
	if (!wqe || !roce_psn_eq(pkt->psn, qp->req.una)) {
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_PSN);
		return NULL;
	}
	return wqe;
}

/* The data of @pkt has been stored; @last: it was the last for its request. */
static void rxe_comp_stored(struct rxe_qp *qp, const struct rxe_swqe *wqe,
			    const struct rxe_pkt *pkt, bool last)
{
	if (last && qp->req.rd_out)
		qp->req.rd_out--;
	rxe_comp_una(qp, roce_psn_add(pkt->psn, 1));
	if (roce_psn_eq(pkt->psn, wqe->last_psn))
		rxe_comp_done(qp, IB_WC_SUCCESS);
	if (roce_psn_before(qp->req.psn, qp->req.una))
		rxe_req_seek_una(qp);
}

/* FLUSH and ATOMIC WRITE are answered by an empty READ response (Annex A19). */
static void rxe_comp_empty(struct rxe_qp *qp, const struct rxe_swqe *wqe,
			   const struct rxe_pkt *pkt)
{
	if (pkt->payload_len || (pkt->info->flags & RXE_OP_ONLY) != RXE_OP_ONLY) {
		rxe_comp_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	rxe_comp_stored(qp, wqe, pkt, true);
}

static void rxe_comp_read(struct rxe_comp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_swqe *wqe = rxe_comp_responded(qp, pkt);
	u32 off;

	if (!wqe)
		return;
	if (wqe->opcode == IB_WR_FLUSH || wqe->opcode == IB_WR_ATOMIC_WRITE) {
		rxe_comp_empty(qp, wqe, pkt);
		return;
	}
	if (wqe->opcode != IB_WR_RDMA_READ) {
		rxe_comp_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}

	off = roce_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	if (pkt->payload_len != min(wqe->length - off, qp->mtu)) {
		rxe_comp_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (!rxe_comp_scatter(run, wqe, pkt->psn, off, pkt->payload, pkt->payload_len, 0, 1)) {
		rxe_comp_store_failed(run);
		return;
	}
	rxe_comp_stored(qp, wqe, pkt,
			pkt->payload_len == rxe_req_read_part(wqe->length, off));
}

/*
 * The short way for most responses of a long READ.  The next one in the burst
 * may follow those that have been stored just now.
 */
static void rxe_comp_read_middles(struct rxe_comp_run *run, unsigned int *budget)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_rx_middles m = {
		.opcode	= ROCE_SERVICE_RC | ROCE_OP_READ_RESP_MIDDLE,
		.psn	= qp->req.una,
		.mtu	= qp->mtu,
		.max	= *budget,
	};
	struct rxe_swqe *wqe = rxe_comp_tail(qp);
	u32 i, num, off, left;

	if (!rxe_qp_can_complete(rxe_qp_state(qp)) || !qp->req.rxq.cur)
		return;
	if (!wqe || wqe->opcode != IB_WR_RDMA_READ || !roce_psn_before(m.psn, qp->req.end))
		return;
	off = roce_psn_diff(m.psn, wqe->first_psn) * qp->mtu;
	left = rxe_req_read_part(wqe->length, off);
	if (left <= qp->mtu)
		return;
	m.max = min3(m.max, (left - 1) / qp->mtu, (u32)roce_psn_diff(qp->req.end, m.psn));
	if (!m.max)
		return;
	num = rxe_rx_middles(qp, qp->req.rxq.cur, &m);
	*budget -= num;
	if (!num)
		return;
	i = rxe_comp_scatter(run, wqe, m.psn, off, m.payload, qp->mtu, m.stride, num);
	if (i) {
		rxe_comp_una(qp, roce_psn_add(m.psn, i));
		if (roce_psn_before(qp->req.psn, qp->req.una))
			rxe_req_seek_una(qp);
	}
	if (i < num) {
		/* the one that failed is the caller's part */
		if (num - i > 1)
			rxe_rx_again(qp->rxe, qp->req.rxq.cur, num - i - 1);
		rxe_comp_store_failed(run);
	}
}

static void rxe_comp_atomic(struct rxe_comp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_swqe *wqe = rxe_comp_responded(qp, pkt);

	if (!wqe)
		return;
	if (!rxe_swqe_is_atomic(wqe)) {
		rxe_comp_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (!rxe_comp_scatter(run, wqe, pkt->psn, 0, &pkt->orig, sizeof(pkt->orig), 0, 1)) {
		rxe_comp_store_failed(run);
		return;
	}
	rxe_comp_stored(qp, wqe, pkt, true);
}

static void rxe_comp_packet(struct rxe_comp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;

	/* what is under way is within [una, end); the rest is stale or made up */
	if (!roce_psn_before(pkt->psn, qp->req.end) || roce_psn_before(pkt->psn, qp->req.una)) {
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_PSN);
		return;
	}
	if (pkt->info->flags & RXE_OP_READ_RESP)
		rxe_comp_read(run, pkt);
	else if (pkt->info->flags & RXE_OP_ATOMICACKETH)
		rxe_comp_atomic(run, pkt);
	else
		rxe_comp_acknowledge(qp, pkt);
}

bool rxe_comp_run(struct rxe_qp *qp)
{
	struct rxe_comp_run run = { .qp = qp };
	unsigned int budget = RXE_COMP_BUDGET;
	struct rxe_pkt pkt __uninitialized;

	while (!run.waits && rxe_qp_can_complete(rxe_qp_state(qp)) &&
	       rxe_qp_next_packet(qp, &qp->req.rxq, &pkt, &budget)) {
		if (pkt.info->flags & RXE_OP_RESPONSE)
			rxe_comp_packet(&run, &pkt);
		else
			rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_OPCODE);
		if (!run.waits && (pkt.info->flags & RXE_OP_READ_RESP))
			rxe_comp_read_middles(&run, &budget);
		if (run.waits)
			rxe_rx_again(qp->rxe, qp->req.rxq.cur, 1);
	}
	rxe_sg_release(&run.sg);
	qp->req.exec.sleep |= run.waits;
	return run.waits || !budget;
}
