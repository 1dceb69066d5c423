// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests that have a response of their own: READs, atomics, ATOMIC WRITE and FLUSH;
 * and what duplicates are answered.
 */

#include "rxe_atomic.h"
#include "rxe_flush.h"
#include "rxe_qp.h"
#include "rxe_resp_run.h"
#include "rxe_stats.h"

void rxe_resp_start_read(struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	qp->resp.read = (struct rxe_resp_read){
		.active	= true,
		.first	= true,
		.psn	= pkt->psn,
		.va	= pkt->va,
		.rkey	= pkt->rkey,
		.resid	= pkt->length,
	};
	/* the response acknowledges everything before it */
	qp->resp.ack_due = false;
}

/* The answer to a request that has one of its own: it acknowledges everything before it. */
static void rxe_resp_respond(struct rxe_resp_run *run, const struct rxe_pkt *pkt, u64 orig)
{
	bool atomic = pkt->info->flags & RXE_OP_ATOMIC;

	rxe_resp_answer(run, atomic ? ROCE_OP_ATOMIC_ACK : ROCE_OP_READ_RESP_ONLY,
			ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT, pkt->psn, orig);
	run->qp->resp.ack_due = false;
}

/* Atomics, ATOMIC WRITE and FLUSH: done in one packet, answered in one.  Return: -EAGAIN as rxe_resp_wait(). */
static int rxe_resp_do_single(struct rxe_resp_run *run, const struct rxe_pkt *pkt, u64 *orig)
{
	struct rxe_mr *mr;
	u64 va = pkt->va;
	int err;

	if (pkt->info->flags & RXE_OP_FLUSH)
		return rxe_flush_mem(run->qp, pkt, false);

	mr = rxe_resp_mr(run, pkt->rkey, pkt->info->flags & RXE_OP_ATOMIC ?
			 IB_ACCESS_REMOTE_ATOMIC : IB_ACCESS_REMOTE_WRITE, &va, sizeof(u64));
	if (!mr || !rxe_mr_is_aligned(mr, va))
		return -EINVAL;
	if (pkt->info->flags & RXE_OP_ATOMIC)
		err = rxe_mr_atomic(mr, va, pkt, orig);
	else
		err = rxe_mr_atomic_write(mr, va, pkt->payload);
	if (err)
		err = rxe_resp_wait(run, mr, va, sizeof(u64), true);
	rxe_resp_used_mem(run);
	return err;
}

void rxe_resp_exec_single(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &run->qp->resp;
	u64 orig = 0;
	int err;

	err = rxe_resp_do_single(run, pkt, &orig);
	if (err == -EAGAIN)
		return;
	if (err) {
		rxe_resp_fatal(run, resp->psn, ROCE_NAK_REM_ACCESS, IB_WC_SUCCESS);
		return;
	}
	if (pkt->info->flags & RXE_OP_ATOMIC)
		rxe_rd_ring_add_atomic(&resp->rd, pkt, orig);
	resp->psn = roce_psn_add(resp->psn, 1);
	resp->msn = (resp->msn + 1) & ROCE_MSN_MASK;
	rxe_resp_respond(run, pkt, orig);
}

static void rxe_resp_duplicate_atomic(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	u64 orig;

	if (rxe_rd_ring_find_atomic(&qp->resp.rd, pkt, &orig))
		rxe_resp_respond(run, pkt, orig);
	else
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_DUPLICATE);
}

void rxe_resp_duplicate(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	u32 flags = pkt->info->flags;

	rxe_count(qp->rxe, RXE_CNT_DUP_REQ);
	/* it had no answer that it could use */
	rxe_token_end(qp);
	run->tx.token = 0;
	if (flags & RXE_OP_ATOMIC) {
		rxe_resp_duplicate_atomic(run, pkt);
	} else if (flags & (RXE_OP_ATOMIC_WRITE | RXE_OP_FLUSH)) {
		/* done before, and flushed memory stays flushed */
		rxe_resp_respond(run, pkt, 0);
	} else if (flags & RXE_OP_READ) {
		if (rxe_rd_ring_replay(&qp->resp.rd, pkt, qp->mtu))
			rxe_resp_start_read(qp, pkt);
		else
			rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_DUPLICATE);
	} else if (flags & RXE_OP_RESERVED) {
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_OPCODE);
	} else {
		qp->resp.ack_due = true;
	}
}

static u8 rxe_resp_read_opcode(bool first, bool last)
{
	if (first)
		return last ? ROCE_OP_READ_RESP_ONLY : ROCE_OP_READ_RESP_FIRST;
	return last ? ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_MIDDLE;
}

/* One READ response. */
static void rxe_resp_read_packet(struct rxe_resp_run *run)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_resp_read *rd = &qp->resp.read;
	u32 len = min(rd->resid, qp->mtu);
	struct rxe_pkt pkt = {
		.opcode	= ROCE_SERVICE_RC | rxe_resp_read_opcode(rd->first, len == rd->resid),
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= rd->psn,
		.syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT,
		.msn	= qp->resp.msn,
	};
	struct rxe_mr *mr = NULL;
	u64 va = rd->va;
	int err = 0;
	u8 *buf;

	if (len) {
		mr = rxe_resp_mr(run, rd->rkey, IB_ACCESS_REMOTE_READ, &va, len);
		if (!mr)	/* deregistered since the request was checked */
			goto failed;
	}
	run->sent = true;
	buf = rxe_tx_add_pkt(&run->tx, &pkt, len);
	if (buf && len)
		err = rxe_mr_read(mr, va, buf, len);
	if (err) {
		rxe_tx_cancel(&run->tx, 1);
		err = rxe_resp_wait(run, mr, va, len, false);
	}
	rxe_resp_used_mem(run);
	if (err == -EAGAIN)
		return;
	if (err)
		goto failed;

	rd->first = false;
	rd->psn = roce_psn_add(rd->psn, 1);
	rd->va += len;
	rd->resid -= len;
	if (!rd->resid)
		rd->active = false;
	return;

failed:
	rd->active = false;
	rxe_resp_fatal(run, rd->psn, ROCE_NAK_REM_ACCESS, IB_WC_SUCCESS);
}

/*
 * The short way for most responses of a long READ: headers that differ in the
 * PSN alone.  False: take the long way.
 */
static bool rxe_resp_read_middles(struct rxe_resp_run *run)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_resp_read *rd = &qp->resp.read;
	struct rxe_pkt pkt = {
		.opcode	= ROCE_SERVICE_RC | ROCE_OP_READ_RESP_MIDDLE,
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= qp->attr.dest_qp_num,
		.psn	= rd->psn,
	};
	u32 i = 0, num = min((rd->resid - 1) / qp->mtu, run->budget);
	struct rxe_mr *mr;
	u64 va = rd->va;
	u8 *buf;

	if (rd->first || !rd->resid || num < 2)
		return false;
	mr = rxe_resp_mr(run, rd->rkey, IB_ACCESS_REMOTE_READ, &va, num * qp->mtu);
	if (!mr)
		return false;
	buf = rxe_tx_add_middles(&run->tx, &pkt, qp->mtu, &num);
	if (buf) {
		i = rxe_mr_read_many(mr, va, buf, qp->mtu, qp->mtu + RXE_MIDDLE_EXTRA, num);
		/* what is to be done about the next one, the long way knows */
		if (i < num)
			rxe_tx_cancel(&run->tx, num - i);
	}
	rxe_resp_used_mem(run);
	rd->psn = roce_psn_add(rd->psn, i);
	rd->va += i * qp->mtu;
	rd->resid -= i * qp->mtu;
	run->budget -= i;
	return i;
}

void rxe_resp_read(struct rxe_resp_run *run)
{
	if (rxe_resp_read_middles(run))
		return;
	rxe_resp_read_packet(run);
	run->budget--;
}
