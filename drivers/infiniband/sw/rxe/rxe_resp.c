// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responder of connected QPs: carries requests out and acknowledges them. */

#include "rxe_access.h"
#include "rxe_atomic.h"
#include "rxe_cq.h"
#include "rxe_flush.h"
#include "rxe_mr.h"
#include "rxe_odp.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_resp.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/* Packets in and out of one run; then others may have the CPU. */
#define RXE_RESP_BUDGET		512

/**
 * struct rxe_resp_run - what one run of the responder has at hand
 * @qp:		QP
 * @tx:		acknowledgments and READ responses
 * @mem:	memory of the last WRITE or READ packet, or nothing
 * @mem_key:	its key
 * @mem_access:	the right that it was looked up for
 * @sg:		place in the receive WQE in use
 * @sg_valid:	@sg is set up
 * @budget:	packets left
 * @waits:	a page must be faulted in before it can go on
 * @sent:	it has sent something
 * @delivered:	it has completed a receive WQE
 * @late:	an ACK of an earlier run waited
 * @late_psn:	its PSN
 * @late_msn:	its MSN
 */
struct rxe_resp_run {
	struct rxe_qp		*qp;
	struct rxe_tx		tx;
	struct rxe_mem		mem;
	u32			mem_key;
	int			mem_access;
	struct rxe_sg_cursor	sg;
	bool			sg_valid;
	unsigned int		budget;
	bool			waits;
	bool			sent;
	bool			delivered;
	bool			late;
	struct roce_psn		late_psn;
	u32			late_msn;
};

static void rxe_resp_drop_sg(struct rxe_resp_run *run)
{
	if (run->sg_valid)
		rxe_sg_release(&run->sg);
	run->sg_valid = false;
}

/* A copy is done: keep the memory for the next one, if a run is not too long for it. */
static void rxe_resp_used_mem(struct rxe_resp_run *run)
{
	if (rxe_mem_is_transient(&run->mem))
		rxe_mem_put(&run->mem);
}

/*
 * The MR for a remote access, and @va as an address of it; held until another
 * one is needed, or rxe_resp_used_mem().
 */
static struct rxe_mr *rxe_resp_mr(struct rxe_resp_run *run, u32 key, int access, u64 *va, u32 len)
{
	struct rxe_mem *mem = &run->mem;
	int err;

	if (!mem->mr || run->mem_key != key || run->mem_access != access ||
	    !rxe_range_ok(mem->start, mem->size, *va, len)) {
		rxe_mem_put(&run->mem);
		err = rxe_mem_get(run->qp, key, access, *va, len, mem);
		if (err) {
			trace_rxe_access_err(dev_name(&run->qp->rxe->ibdev.dev), run->qp->qpn,
					     key, *va, len, err);
			return NULL;
		}
		run->mem_key = key;
		run->mem_access = access;
	}
	*va += mem->delta;
	return mem->mr;
}

/*
 * A copy found no page.  Return: -EAGAIN: the run ends, and the next one begins
 * with the same packet; or what came of bringing the page.
 */
static int rxe_resp_wait(struct rxe_resp_run *run, const struct rxe_mr *mr, u64 va, u32 len,
			 bool write)
{
	int err = rxe_fault_wait(&run->qp->resp.fault, run->qp->pd, rxe_mr_key(mr), va, len, write);

	run->waits = err == -EAGAIN;
	return err;
}

/* One packet that answers, without payload; @orig: for an ATOMIC ACK. */
static void rxe_resp_answer(struct rxe_resp_run *run, enum roce_op op, u8 syndrome,
			    struct roce_psn psn, u64 orig)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_pkt pkt = {
		.opcode		= ROCE_SERVICE_RC | op,
		.pkey		= ROCE_DEFAULT_PKEY,
		.qpn		= qp->attr.dest_qp_num,
		.psn		= psn,
		.syndrome	= syndrome,
		.msn		= qp->resp.msn,
		.orig		= orig,
	};

	run->sent = true;
	rxe_tx_add_pkt(&run->tx, &pkt, 0);
}

static void rxe_resp_send_ack(struct rxe_resp_run *run, u8 syndrome, struct roce_psn psn)
{
	if (!rxe_qp_is_uc(run->qp))
		rxe_resp_answer(run, ROCE_OP_ACK, syndrome, psn, 0);
}

static void rxe_resp_ack(struct rxe_resp_run *run)
{
	if (!run->qp->resp.ack_due)
		return;
	run->qp->resp.ack_due = false;
	rxe_resp_send_ack(run, ROCE_AETH_ACK | ROCE_AETH_NO_CREDIT,
			  roce_psn_add(run->qp->resp.psn, -1));
}

/* An ACK that has waited, for what was received before this run. */
static void rxe_resp_send_late(struct rxe_resp_run *run)
{
	run->qp->resp.ack_due = false;
	rxe_late_ack_send(run->qp, &run->tx, run->late_psn, run->late_msn);
}

/* At the end of a run: an acknowledgment, if one is due and nothing else will carry it. */
static void rxe_resp_ack_or_defer(struct rxe_resp_run *run)
{
	struct rxe_resp *resp = &run->qp->resp;
	bool more = run->waits || !run->budget;

	if (resp->ack_due && run->delivered && !more && !run->sent &&
	    !rxe_qp_is_uc(run->qp) && rxe_late_ack_defer(run->qp))
		resp->ack_due = false;
	rxe_resp_ack(run);
}

void rxe_resp_recv_done(struct rxe_qp *qp, struct ib_wc *wc, bool solicited)
{
	wc->wr_id = qp->rq.cur.wr_id;
	wc->qp = &qp->ibqp;
	wc->port_num = 1;
	rxe_rq_pop(qp);
	if (rxe_cq_post(qp->rcq, wc, solicited))
		rxe_qp_set_fatal(qp);
}

static void rxe_resp_recv_failed(struct rxe_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	rxe_resp_recv_done(qp, &wc, true);
}

/* A NAK that ends the connection: sent first, then the QP fails (IBTA 9.7.4.1). */
static void rxe_resp_fatal(struct rxe_resp_run *run, struct roce_psn psn, enum roce_nak nak,
			   enum ib_wc_status wc_status)
{
	struct rxe_qp *qp = run->qp;

	rxe_resp_drop_sg(run);
	if (rxe_qp_is_uc(qp) && wc_status == IB_WC_SUCCESS) {
		qp->resp.msg = RXE_MSG_NONE;	/* the message alone is lost */
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_INVALID);
		return;
	}
	rxe_resp_ack(run);
	if (!rxe_qp_is_uc(qp))
		trace_rxe_nak_sent(dev_name(&qp->rxe->ibdev.dev), qp->qpn, psn.v,
				   ROCE_AETH_NAK | nak);
	rxe_resp_send_ack(run, ROCE_AETH_NAK | nak, psn);

	rxe_qp_set_error(qp);
	if (wc_status != IB_WC_SUCCESS)
		rxe_resp_recv_failed(qp, wc_status);

	if (nak == ROCE_NAK_REM_ACCESS) {
		rxe_count(qp->rxe, RXE_CNT_ACCESS_ERR);
		rxe_qp_event(qp, IB_EVENT_QP_ACCESS_ERR);
	} else if (nak == ROCE_NAK_INVALID_REQ) {
		rxe_count(qp->rxe, RXE_CNT_INVALID_REQ);
		rxe_qp_event(qp, IB_EVENT_QP_REQ_ERR);
	}
}

/* Sequence and RNR NAKs: the requester comes again. */
static void rxe_resp_retry_nak(struct rxe_resp_run *run, u8 syndrome)
{
	struct rxe_qp *qp = run->qp;

	rxe_resp_ack(run);
	trace_rxe_nak_sent(dev_name(&qp->rxe->ibdev.dev), qp->qpn, qp->resp.psn.v, syndrome);
	rxe_resp_send_ack(run, syndrome, qp->resp.psn);
	qp->resp.nak_sent = true;
}

static void rxe_resp_start_read(struct rxe_qp *qp, const struct rxe_pkt *pkt)
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

static void rxe_resp_exec_single(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
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

static void rxe_resp_duplicate(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
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

static void rxe_resp_read(struct rxe_resp_run *run)
{
	if (rxe_resp_read_middles(run))
		return;
	rxe_resp_read_packet(run);
	run->budget--;
}

/* A packet's data could not be stored. */
static void rxe_resp_recv_refused(struct rxe_resp_run *run, int err)
{
	if (err == -EAGAIN)
		err = rxe_sg_wait(&run->sg, &run->qp->resp.fault);
	run->waits = err == -EAGAIN;
	if (!run->waits)
		rxe_resp_fatal(run, run->qp->resp.psn, ROCE_NAK_REM_OP, IB_WC_LOC_PROT_ERR);
}

/*
 * Payload of packets of equal length to the receive WQE.  Returns how many are
 * stored; @err says why the next one is not.
 */
static u32 rxe_resp_recv_data(struct rxe_resp_run *run, const u8 *data, u32 len, u32 stride,
			      u32 num, int *err)
{
	struct rxe_qp *qp = run->qp;
	u32 i;

	if (!run->sg_valid) {
		rxe_sg_init(&run->sg, qp->rq.pd, qp->rq.cur.sge, qp->rq.cur.num_sge,
			    IB_ACCESS_LOCAL_WRITE);
		rxe_sg_seek(&run->sg, qp->resp.received);
		run->sg_valid = true;
	}
	i = rxe_sg_write_many(&run->sg, data, len, stride, num, err);
	qp->resp.received += i * len;
	return i;
}

static bool rxe_resp_exec_send(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	int err;

	if (pkt->info->flags & RXE_OP_FIRST) {
		rxe_resp_drop_sg(run);
		qp->resp.received = 0;
	}
	rxe_resp_recv_data(run, pkt->payload, pkt->payload_len, 0, 1, &err);
	if (err) {
		rxe_resp_recv_refused(run, err);
		return false;
	}
	qp->resp.msg = RXE_MSG_SEND;
	return true;
}

static bool rxe_resp_exec_write(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_resp *resp = &run->qp->resp;
	int err = -EINVAL;
	struct rxe_mr *mr;
	u64 va;

	if (pkt->info->flags & RXE_OP_FIRST) {
		resp->received = 0;
		resp->write_va = pkt->va;
		resp->write_rkey = pkt->rkey;
		resp->write_resid = pkt->length;
	}
	if (pkt->payload_len) {
		va = resp->write_va;
		mr = rxe_resp_mr(run, resp->write_rkey, IB_ACCESS_REMOTE_WRITE, &va,
				 pkt->payload_len);
		if (mr)
			err = rxe_mr_write(mr, va, pkt->payload, pkt->payload_len);
		if (err == -EAGAIN)
			err = rxe_resp_wait(run, mr, va, pkt->payload_len, true);
		rxe_resp_used_mem(run);
		if (err == -EAGAIN)
			return false;
		if (err) {
			rxe_resp_fatal(run, resp->psn, ROCE_NAK_REM_ACCESS, IB_WC_SUCCESS);
			return false;
		}
	}
	resp->write_va += pkt->payload_len;
	resp->write_resid -= pkt->payload_len;
	resp->received += pkt->payload_len;
	resp->msg = RXE_MSG_WRITE;
	return true;
}

/* The last packet of a message that took a receive WQE. */
static void rxe_resp_complete(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	u32 flags = pkt->info->flags;
	struct ib_wc wc = {
		.status		= IB_WC_SUCCESS,
		.opcode		= flags & RXE_OP_SEND ? IB_WC_RECV : IB_WC_RECV_RDMA_WITH_IMM,
		.byte_len	= qp->resp.received,
		.src_qp		= qp->attr.dest_qp_num,
	};

	if (flags & RXE_OP_IMMDT) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	} else if (flags & RXE_OP_IETH) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = pkt->rkey;
	}
	rxe_resp_drop_sg(run);
	run->delivered = true;
	rxe_late_ack_delivered(&qp->resp.late);
	rxe_count(qp->rxe, RXE_CNT_RDMA_RECV);
	rxe_resp_recv_done(qp, &wc, pkt->se);
}

static void rxe_resp_execute(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_resp *resp = &qp->resp;
	u32 flags = pkt->info->flags;

	if (flags & RXE_OP_READ) {
		u32 pkts = rxe_num_pkts(pkt->length, qp->mtu);

		resp->psn = roce_psn_add(resp->psn, pkts);
		resp->msn = (resp->msn + 1) & ROCE_MSN_MASK;
		rxe_rd_ring_add(&resp->rd, pkt, pkts);
		rxe_resp_start_read(qp, pkt);
		return;
	}

	if (flags & (RXE_OP_ATOMIC | RXE_OP_ATOMIC_WRITE | RXE_OP_FLUSH)) {
		rxe_resp_exec_single(run, pkt);
		return;
	}

	if (flags & RXE_OP_SEND ? !rxe_resp_exec_send(run, pkt) : !rxe_resp_exec_write(run, pkt))
		return;
	if ((flags & RXE_OP_IETH) && rxe_key_invalidate(qp, pkt->rkey, true)) {
		/* somebody else was faster since the check */
		rxe_resp_fatal(run, resp->psn, ROCE_NAK_REM_ACCESS, IB_WC_MW_BIND_ERR);
		return;
	}

	resp->psn = roce_psn_add(resp->psn, 1);
	if (flags & RXE_OP_LAST) {
		resp->msg = RXE_MSG_NONE;
		resp->msn = (resp->msn + 1) & ROCE_MSN_MASK;
		if (flags & (RXE_OP_SEND | RXE_OP_IMMDT))
			rxe_resp_complete(run, pkt);
	}
	if (pkt->ackreq && !rxe_qp_is_uc(qp))
		resp->ack_due = true;
}

/*
 * Nobody is told what is wrong with an unacknowledged message: it is dropped,
 * and a receive WQE serves the next one, unless it is itself at fault.
 */
static bool rxe_resp_drop_uc(struct rxe_qp *qp, const struct rxe_verdict *v)
{
	if (v->kind == RXE_VERDICT_OK || v->wc_status != IB_WC_SUCCESS)
		return false;
	qp->resp.msg = RXE_MSG_NONE;
	rxe_rx_drop(qp->rxe, qp->qpn, v->kind == RXE_VERDICT_DROP ? v->drop :
				      v->kind == RXE_VERDICT_RNR ? RXE_DROP_NO_WQE :
								   RXE_DROP_INVALID);
	return true;
}

static void rxe_resp_packet(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_verdict v = rxe_resp_check(qp, pkt);

	if (v.qp_fatal)
		rxe_qp_set_fatal(qp);
	if (rxe_qp_is_uc(qp) && rxe_resp_drop_uc(qp, &v))
		return;

	switch (v.kind) {
	case RXE_VERDICT_OK:
		if (!qp->resp.comm_est && rxe_qp_state(qp) == IB_QPS_RTR) {
			qp->resp.comm_est = true;
			rxe_qp_event(qp, IB_EVENT_COMM_EST);
		}
		rxe_resp_execute(run, pkt);
		break;
	case RXE_VERDICT_DROP:
		rxe_rx_drop(qp->rxe, qp->qpn, v.drop);
		break;
	case RXE_VERDICT_DUPLICATE:
		rxe_resp_duplicate(run, pkt);
		break;
	case RXE_VERDICT_RNR:
		rxe_count(qp->rxe, RXE_CNT_SND_RNR);
		rxe_resp_retry_nak(run, ROCE_AETH_RNR | qp->attr.min_rnr_timer);
		break;
	case RXE_VERDICT_NAK:
		if (v.nak == ROCE_NAK_PSN_SEQ)
			rxe_resp_retry_nak(run, ROCE_AETH_NAK | v.nak);
		else
			rxe_resp_fatal(run, qp->resp.psn, v.nak, v.wc_status);
		break;
	}
}

/* How many more full packets of the message at hand are sure to be accepted? */
static u32 rxe_resp_takes_middles(const struct rxe_qp *qp)
{
	const struct rxe_resp *resp = &qp->resp;
	u64 room;

	if (!resp->rxq.cur || !rxe_qp_can_receive(rxe_qp_state(qp)))
		return 0;
	switch (resp->msg) {
	case RXE_MSG_SEND:
		room = min_t(u64, qp->rq.cur.length, RXE_MAX_MSG_SZ);
		if (!qp->rq.cur.valid || room < resp->received)
			return 0;
		return (u32)(room - resp->received) / qp->mtu;
	case RXE_MSG_WRITE:
		if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
			return 0;
		return resp->write_resid / qp->mtu;
	default:
		return 0;
	}
}

/* Returns how many of @num packets were stored; the next one failed. */
static u32 rxe_resp_send_middles(struct rxe_resp_run *run, const struct rxe_rx_middles *m,
				 u32 num)
{
	struct rxe_resp *resp = &run->qp->resp;
	int err;
	u32 i;

	i = rxe_resp_recv_data(run, m->payload, m->mtu, m->stride, num, &err);
	resp->psn = roce_psn_add(resp->psn, i);
	if (err)
		rxe_resp_recv_refused(run, err);
	return i;
}

/* As rxe_resp_send_middles(). */
static u32 rxe_resp_write_middles(struct rxe_resp_run *run, const struct rxe_rx_middles *m,
				  u32 num)
{
	struct rxe_resp *resp = &run->qp->resp;
	u64 va = resp->write_va;
	struct rxe_mr *mr;
	int err = -EINVAL;
	u32 i = 0;

	/* less than what the message's first packet was checked for */
	mr = rxe_resp_mr(run, resp->write_rkey, IB_ACCESS_REMOTE_WRITE, &va, num * m->mtu);
	if (mr) {
		i = rxe_mr_write_many(mr, va, m->payload, m->mtu, m->stride, num);
		err = i < num ? rxe_resp_wait(run, mr, va + i * m->mtu, m->mtu, true) : 0;
	}
	rxe_resp_used_mem(run);

	resp->write_va += i * m->mtu;
	resp->write_resid -= i * m->mtu;
	resp->received += i * m->mtu;
	resp->psn = roce_psn_add(resp->psn, i);
	if (err && err != -EAGAIN)
		rxe_resp_fatal(run, resp->psn, ROCE_NAK_REM_ACCESS, IB_WC_SUCCESS);
	return i;
}

/*
 * The short way for most packets of a long message: those that rxe_resp_check()
 * could have nothing against.
 */
static void rxe_resp_middles(struct rxe_resp_run *run)
{
	struct rxe_qp *qp = run->qp;
	struct rxe_resp *resp = &qp->resp;
	bool send = resp->msg == RXE_MSG_SEND;
	struct rxe_rx_middles m = {
		.opcode	= rxe_qp_service(qp) | (send ? ROCE_OP_SEND_MIDDLE : ROCE_OP_WRITE_MIDDLE),
		.mtu	= qp->mtu,
	};
	u32 num, done;

	while ((m.max = min(run->budget, rxe_resp_takes_middles(qp)))) {
		m.psn = resp->psn;
		num = rxe_rx_middles(qp, resp->rxq.cur, &m);
		if (!num)
			return;
		run->budget -= num;
		resp->nak_sent = false;
		done = send ? rxe_resp_send_middles(run, &m, num) :
			      rxe_resp_write_middles(run, &m, num);
		if (m.ackreq && !rxe_qp_is_uc(qp))
			resp->ack_due = true;
		if (done < num) {
			/* the one that failed is the caller's part */
			if (num - done > 1)
				rxe_rx_again(qp->rxe, resp->rxq.cur, num - done - 1);
			return;
		}
	}
}

/* True: budget used up. */
static bool rxe_resp_run_connected(struct rxe_qp *qp)
{
	struct rxe_resp_run run = { .qp = qp, .budget = RXE_RESP_BUDGET };
	struct rxe_pkt pkt;

	if (!qp->resp.read.active && rxe_rxq_idle(&qp->resp.rxq) &&
	    !rxe_late_ack_over(&qp->resp.late))
		return false;

	rxe_tx_begin(&run.tx, qp->rxe, &qp->path, &qp->resp.route);
	run.tx.token = rxe_token_tx(qp);
	run.late = rxe_late_ack_take(qp, &run.late_psn, &run.late_msn);
	qp->resp.ack_due |= run.late;
	while (run.budget && !run.waits && rxe_qp_can_receive(rxe_qp_state(qp))) {
		if (qp->resp.read.active) {
			rxe_resp_read(&run);
		} else if (rxe_qp_next_packet(qp, &qp->resp.rxq, &pkt, &run.budget)) {
			rxe_resp_packet(&run, &pkt);
			if (!run.waits)
				rxe_resp_middles(&run);
			if (run.waits)
				rxe_rx_again(qp->rxe, qp->resp.rxq.cur, 1);
		} else {
			break;
		}
	}
	if (rxe_qp_can_receive(rxe_qp_state(qp)))
		rxe_resp_ack_or_defer(&run);
	else if (run.late && qp->resp.ack_due)
		rxe_resp_send_late(&run);
	rxe_resp_drop_sg(&run);
	rxe_mem_put(&run.mem);
	rxe_tx_end(&run.tx);
	qp->resp.exec.sleep = run.waits;
	return run.waits || !run.budget;
}

/*
 * The QP takes nothing in any more.  What it has taken in is acknowledged: for
 * the peer it was received.
 *
 * Context: the responder, or executors disabled.
 */
static void rxe_resp_last_ack(struct rxe_qp *qp)
{
	struct rxe_resp_run run = { .qp = qp };

	if (!rxe_late_ack_take(qp, &run.late_psn, &run.late_msn))
		return;
	local_bh_disable();
	rxe_tx_begin(&run.tx, qp->rxe, &qp->path, NULL);
	rxe_resp_send_late(&run);
	rxe_tx_end(&run.tx);
	local_bh_enable();
}

/* The others' WQEs stay in the SRQ: only what this QP has taken is flushed. */
static void rxe_resp_flush_srq(struct rxe_qp *qp)
{
	if (qp->rq.cur.valid)
		rxe_resp_recv_failed(qp, IB_WC_WR_FLUSH_ERR);
	if (qp->resp.last_wqe)
		return;
	qp->resp.last_wqe = true;
	rxe_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* In ERR every receive WQE completes as flushed. */
static void rxe_resp_flush(struct rxe_qp *qp)
{
	unsigned int n;

	rxe_resp_last_ack(qp);
	rxe_qp_purge(qp, &qp->resp.rxq);
	qp->resp.read.active = false;
	if (qp->rq.srq) {
		rxe_resp_flush_srq(qp);
		return;
	}
	/* before looking: what is posted from now on is found by one or the other */
	if (qp->user)
		rxe_cq_watch(qp->rcq, qp);
	/* a process that posts all the time is not waited for */
	for (n = 0; n <= qp->rq.ring.mask && rxe_rq_get(qp) >= 0; n++)
		rxe_resp_recv_failed(qp, IB_WC_WR_FLUSH_ERR);
}

static bool rxe_resp_run(struct rxe_exec *x)
{
	struct rxe_qp *qp = container_of(x, struct rxe_qp, resp.exec);
	enum ib_qp_state state = rxe_qp_state(qp);

	if (rxe_qp_can_receive(state))
		return rxe_qp_is_datagram(qp) ? rxe_datagram_run(qp) : rxe_resp_run_connected(qp);
	if (state == IB_QPS_ERR)
		rxe_resp_flush(qp);
	else
		rxe_qp_purge(qp, &qp->resp.rxq);
	return false;
}

static void rxe_resp_get(struct rxe_exec *x)
{
	rxe_qp_get(container_of(x, struct rxe_qp, resp.exec));
}

static void rxe_resp_put(struct rxe_exec *x)
{
	rxe_qp_put(container_of(x, struct rxe_qp, resp.exec));
}

static void rxe_resp_prepare(struct rxe_exec *x)
{
	struct rxe_qp *qp = container_of(x, struct rxe_qp, resp.exec);

	rxe_fault_handle(&qp->resp.fault);
}

void rxe_resp_init(struct rxe_qp *qp)
{
	rxe_exec_init(&qp->resp.exec, rxe_resp_run, rxe_resp_get, rxe_resp_put,
		      rxe_resp_prepare);
	rxe_rxq_init(&qp->resp.rxq);
	rxe_route_init(&qp->resp.route);
	rxe_late_ack_init(qp);
}

void rxe_resp_fini(struct rxe_qp *qp)
{
	rxe_resp_last_ack(qp);
	rxe_rxq_purge(&qp->resp.rxq);
	rxe_route_reset(&qp->resp.route);
	rxe_rd_ring_resize(&qp->resp.rd, 0);
}

void rxe_resp_reset(struct rxe_qp *qp)
{
	rxe_resp_last_ack(qp);
	rxe_late_ack_reset(qp);
	rxe_rxq_purge(&qp->resp.rxq);
	rxe_route_reset(&qp->resp.route);
	rxe_rq_reset(qp);
	qp->resp.msn = 0;
	qp->resp.msg = RXE_MSG_NONE;
	qp->resp.nak_sent = false;
	qp->resp.comm_est = false;
	qp->resp.last_wqe = false;
	qp->resp.received = 0;
	qp->resp.ack_due = false;
	qp->resp.read.active = false;
	rxe_rd_ring_resize(&qp->resp.rd, 0);
}
