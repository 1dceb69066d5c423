// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder of connected QPs: carries requests out and acknowledges them.  READs and
 * atomics are in rxe_resp_read.c, the payload of SENDs and WRITEs in rxe_resp_data.c.
 */

#include "rxe_cq.h"
#include "rxe_mr.h"
#include "rxe_odp.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_resp_run.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/* Packets in and out of one run; then others may have the CPU. */
#define RXE_RESP_BUDGET		1024

struct rxe_mr *rxe_resp_mr(struct rxe_resp_run *run, u32 key, int access, u64 *va, u32 len)
{
	struct rxe_mem *mem = &run->mem;
	int err;

	if (!mem->mr || run->mem_key != key || run->mem_access != access ||
	    !rxe_range_ok(mem->start, mem->size, *va, len)) {
		rxe_mem_put(&run->mem);
		err = rxe_mem_get(run->qp, key, access, *va, len, mem);
		if (err) {
			rxe_access_refused(run->qp, true, key, *va, len, err);
			return NULL;
		}
		run->mem_key = key;
		run->mem_access = access;
	}
	*va += mem->delta;
	return mem->mr;
}

/* What rxe_resp_check() has found is what rxe_resp_mr() would find. */
static void rxe_resp_keep_mem(struct rxe_resp_run *run, const struct rxe_pkt *pkt,
			      const struct rxe_mem *mem)
{
	rxe_mem_put(&run->mem);
	run->mem = *mem;
	run->mem_key = pkt->rkey;
	run->mem_access = rxe_rkey_access(pkt);
}

int rxe_resp_wait(struct rxe_resp_run *run, const struct rxe_mr *mr, u64 va, u32 len, bool write)
{
	int err = rxe_fault_wait(&run->qp->resp.fault, run->qp->pd, rxe_mr_key(mr), va, len, write);

	run->waits = err == -EAGAIN;
	if (err && !run->waits)
		rxe_access_refused(run->qp, true, rxe_mr_key(mr), va, len, err);
	return err;
}

void rxe_resp_answer(struct rxe_resp_run *run, enum roce_op op, u8 syndrome, struct roce_psn psn,
		     u64 orig)
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
		rxe_qp_set_fatal(qp, RXE_QP_WHY_CQ_OVERFLOW);
}

static void rxe_resp_recv_failed(struct rxe_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	rxe_resp_recv_done(qp, &wc, true);
}

void rxe_resp_fatal(struct rxe_resp_run *run, struct roce_psn psn, enum roce_nak nak,
		    enum ib_wc_status wc_status)
{
	struct rxe_qp *qp = run->qp;

	run->sg_valid = false;
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

	rxe_qp_set_error(qp, wc_status != IB_WC_SUCCESS ? wc_status : RXE_QP_WHY_NAK + nak);
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
	run->sg_valid = false;
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
		rxe_access_refused(qp, true, pkt->rkey, 0, 0, -EACCES);
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
	struct rxe_mem mem = {};
	struct rxe_verdict v = rxe_resp_check(qp, pkt, &mem);

	if (mem.mr && v.kind == RXE_VERDICT_OK)
		rxe_resp_keep_mem(run, pkt, &mem);
	else
		rxe_mem_put(&mem);
	if (v.qp_fatal)
		rxe_qp_set_fatal(qp, RXE_QP_WHY_SRQ);
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

/* Begin a run; for its packets rxe_tx_begin() does. */
static void rxe_resp_begin(struct rxe_resp_run *run, struct rxe_qp *qp)
{
	run->qp = qp;
	run->mem = (struct rxe_mem){};
	run->sg = (struct rxe_sg_cursor){};
	run->sg_valid = false;
	run->budget = RXE_RESP_BUDGET;
	run->waits = false;
	run->sent = false;
	run->delivered = false;
	run->late = false;
}

/* True: budget used up. */
static bool rxe_resp_run_connected(struct rxe_qp *qp)
{
	struct rxe_resp_run run __uninitialized;
	struct rxe_pkt pkt __uninitialized;

	if (!qp->resp.read.active && rxe_rxq_idle(&qp->resp.rxq) &&
	    !rxe_late_ack_over(&qp->resp.late))
		return false;

	rxe_resp_begin(&run, qp);
	rxe_tx_begin(&run.tx, qp->rxe, qp->qpn, &qp->path, &qp->resp.route);
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
	rxe_sg_release(&run.sg);
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
	rxe_tx_begin(&run.tx, qp->rxe, qp->qpn, &qp->path, NULL);
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
