// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester of connected QPs: what goes next, and when.  The packets are made in
 * rxe_req_wqe.c; the datagrams of UD and GSI have rxe_req_ud.c.
 */

#include "rxe_access.h"
#include "rxe_comp.h"
#include "rxe_late_ack.h"
#include "rxe_local.h"
#include "rxe_packet.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_req_run.h"
#include "rxe_stats.h"

/*
 * A long READ is asked for in parts: responses are not acknowledged, so this
 * is what bounds the bytes under way.  Parts begin at multiples of it, on
 * retries too, so that the responder finds them among its resources.
 */
#define RXE_READ_PART		SZ_128K

/* Packets that may be unacknowledged after a timeout. */
#define RXE_MIN_WINDOW		8

bool rxe_req_outstanding(const struct rxe_qp *qp)
{
	return !roce_psn_eq(qp->req.una, qp->req.end);
}

void rxe_req_seek_una(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	const struct rxe_swqe *wqe = rxe_swqe(&qp->sq, qp->sq.tail);

	req->next = qp->sq.tail;
	req->psn = req->una;
	req->off = 0;
	if (qp->sq.tail != rxe_sq_head(&qp->sq) && wqe->started)
		req->off = roce_psn_diff(req->una, wqe->first_psn) * qp->mtu;
}

void rxe_req_rewind(struct rxe_qp *qp)
{
	rxe_req_seek_una(qp);
	qp->req.rd_out = 0;
	qp->req.rd_full = false;
	qp->req.unasked = 0;
	qp->req.ask = true;
}

bool rxe_req_probe(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	s32 under_way = roce_psn_diff(req->psn, req->una);

	if (!under_way || req->rd_out || !roce_psn_eq(req->psn, req->end) ||
	    req->unasked < (u32)under_way)
		return false;

	if (!req->off) {
		/* there is one with a packet, as not all are acknowledged */
		do
			req->next--;
		while (rxe_swqe_is_local(rxe_swqe(&qp->sq, req->next)));
	}
	req->psn = roce_psn_add(req->psn, -1);
	req->off = roce_psn_diff(req->psn, rxe_swqe(&qp->sq, req->next)->first_psn) * qp->mtu;
	req->unasked = 0;
	req->ask = true;
	return true;
}

static u32 rxe_req_max_window(const struct rxe_qp *qp)
{
	return RXE_WINDOW_BYTES / qp->mtu;
}

void rxe_req_acked(struct rxe_qp *qp, u32 pkts)
{
	qp->req.window = min(qp->req.window + pkts, rxe_req_max_window(qp));
}

void rxe_req_lost(struct rxe_qp *qp, bool timeout)
{
	u32 window = timeout ? RXE_MIN_WINDOW : qp->req.window / 2;

	qp->req.window = max_t(u32, window, RXE_MIN_WINDOW);
}

u32 rxe_req_read_part(u32 length, u32 off)
{
	return min_t(u32, length - off, RXE_READ_PART - off % RXE_READ_PART);
}

/* Local operations have their turn here.  False: it has not come, or it failed. */
static bool rxe_req_local(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	bool oldest = qp->sq.tail == qp->req.next;

	/* done before: after a rewind it is passed by */
	if (!wqe->started && !rxe_local_run(qp, wqe))
		return false;
	if (oldest && !rxe_qp_is_uc(qp)) {
		rxe_comp_done(qp, IB_WC_SUCCESS);
		return true;
	}
	/* it completes after those before it */
	if (qp->sq_sig_all || (wqe->flags & IB_SEND_SIGNALED))
		qp->req.ask = true;
	qp->req.next++;
	return true;
}

/*
 * Is there room for a READ or an atomic?  Where there was none, there is some again
 * when several can go: their responses come as one run of bursts, too.
 */
static bool rxe_req_rd_room(struct rxe_qp *qp, s32 under_way, u32 pkts)
{
	struct rxe_req *req = &qp->req;
	u32 max = max_t(u32, qp->attr.max_rd_atomic, 1);	/* 0: rxe_req_start() refuses it */
	bool none, few;

	none = req->rd_out >= max || (under_way && under_way + (s32)pkts > (s32)req->window);
	few = req->rd_out + max(max / 4, 1U) > max || under_way > (s32)req->window / 2;
	req->rd_full = none || (req->rd_full && few);
	return !req->rd_full;
}

static bool rxe_req_may_send(struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	const struct rxe_req *req = &qp->req;
	s32 under_way = roce_psn_diff(req->psn, req->una);

	if (!wqe->started) {
		if (rxe_qp_state(qp) == IB_QPS_SQD)
			return false;
		if ((wqe->flags & IB_SEND_FENCE) && req->reads)
			return false;
	}
	if (wqe->opcode == IB_WR_RDMA_READ)
		return rxe_req_rd_room(qp, under_way, rxe_num_pkts(rxe_req_read_part(wqe->length,
							req->off), qp->mtu));
	if (rxe_swqe_is_rd_atomic(wqe))
		return rxe_req_rd_room(qp, under_way, 1);
	return rxe_qp_is_uc(qp) || under_way < (s32)req->window;
}

static bool rxe_req_check_sges(struct rxe_qp *qp, struct rxe_swqe *wqe, int access)
{
	const struct ib_sge *sge = wqe->sge;
	unsigned int bad;
	int err;

	err = rxe_sg_check(qp->pd, sge, wqe->num_sge, access, &bad);
	if (!err)
		return true;
	rxe_access_refused(qp, false, sge[bad].lkey, sge[bad].addr, sge[bad].length, err);
	wqe->status = IB_WC_LOC_PROT_ERR;
	return false;
}

/* Give the element its PSNs, once its keys are known to be good. */
static bool rxe_req_start(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	bool read = rxe_swqe_is_rd_atomic(wqe);
	bool sink = read && wqe->opcode != IB_WR_ATOMIC_WRITE;
	int access = sink ? IB_ACCESS_LOCAL_WRITE : 0;

	if (read && !qp->attr.max_rd_atomic) {
		rxe_wqe_bad(qp, wqe->wr_id, wqe->opcode, RXE_BAD_RD_ATOMIC);
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return false;
	}
	/* what fits a packet is checked by its copy, before anything is sent */
	if ((sink || wqe->length > qp->mtu) && !rxe_req_check_sges(qp, wqe, access))
		return false;

	wqe->first_psn = qp->req.psn;
	wqe->last_psn = roce_psn_add(wqe->first_psn, rxe_num_pkts(wqe->length, qp->mtu) - 1);
	wqe->started = true;
	if (read)
		qp->req.reads++;
	if (!rxe_qp_is_uc(qp) && !rxe_req_outstanding(qp))
		rxe_retry_progress(qp);
	return true;
}

/* The element to send a packet of now, or NULL. */
static struct rxe_swqe *rxe_req_next(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	struct rxe_swqe *wqe;

	do {
		if (req->next == rxe_sq_head(&qp->sq))
			return NULL;
		wqe = rxe_swqe(&qp->sq, req->next);
		if (wqe->status != IB_WC_SUCCESS)
			return NULL;
	} while (rxe_swqe_is_local(wqe) && rxe_req_local(qp, wqe));

	if (rxe_swqe_is_local(wqe) || !rxe_req_may_send(qp, wqe))
		return NULL;
	if (!wqe->started && !rxe_req_start(qp, wqe))
		return NULL;
	return wqe;
}

/* Does anything wait until the elements that have been sent complete? */
static bool rxe_req_blocked(const struct rxe_qp *qp)
{
	return qp->req.next != rxe_sq_head(&qp->sq) || rxe_qp_state(qp) != IB_QPS_RTS;
}

/* Does it matter when they complete?  Or is somebody told, or waits for room? */
static bool rxe_req_must_ask(const struct rxe_qp *qp)
{
	return qp->req.ask || !qp->attr.timeout || rxe_req_blocked(qp) ||
	       qp->req.next - qp->sq.tail > qp->sq.mask / 4;
}

/*
 * The last packet of a run asks for an ACK: nothing else may follow for long.
 * Where nobody waits for it, that can wait too; in the end rxe_req_probe() asks.
 */
static void rxe_req_ask(struct rxe_req_run *run)
{
	u8 *bth = rxe_tx_last(&run->tx);

	if (!rxe_req_must_ask(run->qp))
		return;

	/* what has a response of its own is answered anyway */
	if (!bth || rxe_qp_is_uc(run->qp) ||
	    rxe_opcodes[bth[0]].flags & (RXE_OP_READ | RXE_OP_ATOMIC | RXE_OP_FLUSH |
					 RXE_OP_ATOMIC_WRITE))
		return;
	rxe_pkt_set_ackreq(bth);
	run->qp->req.unasked = 0;
	run->qp->req.ask = false;
}

/* The peer's last message is acknowledged along with what goes out anyway. */
static void rxe_req_add_ack(struct rxe_req_run *run)
{
	struct roce_psn psn;
	u32 msn;

	if (!rxe_qp_is_uc(run->qp) && rxe_late_ack_join(run->qp, &psn, &msn))
		rxe_late_ack_send(run->qp, &run->tx, psn, msn);
}

/* True: budget used up. */
static bool rxe_req_send(struct rxe_qp *qp)
{
	struct rxe_req_run run __uninitialized;
	unsigned int budget = RXE_REQ_BUDGET;
	struct rxe_swqe *wqe;

	if (qp->req.retry.rnr_wait)
		return false;
	wqe = rxe_req_next(qp);
	if (!wqe && !rxe_qp_is_uc(qp) && (rxe_req_blocked(qp) || qp->req.ask) &&
	    rxe_req_probe(qp))
		wqe = rxe_req_next(qp);
	if (!wqe)
		return false;

	rxe_req_begin(&run, qp);
	rxe_tx_begin(&run.tx, qp->rxe, qp->qpn, &qp->path, &qp->req.route);
	run.tx.token = rxe_token_tx_request(qp);
	run.tx.confirm = qp->req.progress;
	qp->req.progress = false;
	do {
		budget -= rxe_req_send_wqe(&run, wqe, budget);
	} while (budget && !run.waits && (wqe = rxe_req_next(qp)));

	rxe_req_ask(&run);
	rxe_req_add_ack(&run);
	rxe_sg_release(&run.sg);
	rxe_tx_end(&run.tx);
	qp->req.exec.sleep |= run.waits;
	return run.waits || !budget;
}

void rxe_req_sent_done(struct rxe_qp *qp)
{
	while (qp->sq.tail != qp->req.next)
		rxe_comp_done(qp, IB_WC_SUCCESS);
}

void rxe_req_unacked_failed(struct rxe_qp *qp, enum ib_wc_status status)
{
	rxe_req_sent_done(qp);
	rxe_qp_set_sq_error(qp, status);
	rxe_comp_done(qp, status);
}

/* In ERR and SQE everything posted completes as flushed.  True: more to fetch. */
static bool rxe_req_flush(struct rxe_qp *qp)
{
	bool more;

	rxe_qp_purge(qp, &qp->req.rxq);
	rxe_cork_flushed(qp);
	more = rxe_sq_fetch(qp);
	while (qp->sq.tail != rxe_sq_head(&qp->sq))
		rxe_comp_done(qp, IB_WC_WR_FLUSH_ERR);
	qp->req.next = qp->sq.tail;
	qp->req.off = 0;
	qp->req.una = qp->req.end;
	qp->req.psn = qp->req.end;
	return more;
}

/* An element that cannot be sent completes when all before it have. */
static void rxe_req_check_failed(struct rxe_qp *qp)
{
	struct rxe_swqe *wqe = rxe_swqe(&qp->sq, qp->sq.tail);

	if (qp->sq.tail == rxe_sq_head(&qp->sq) || qp->req.next != qp->sq.tail)
		return;
	if (rxe_qp_state(qp) == IB_QPS_SQD && !wqe->started)
		return;
	if (wqe->status != IB_WC_SUCCESS)
		rxe_comp_fail(qp, wqe->status);
}

static bool rxe_req_run_connected(struct rxe_qp *qp)
{
	u32 head;
	bool more;

	more = rxe_comp_run(qp);
	if (rxe_qp_can_complete(rxe_qp_state(qp)))
		rxe_retry_events(qp);
	if (!rxe_qp_can_complete(rxe_qp_state(qp)))
		return false;	/* failed just now: the next round flushes */

	head = rxe_sq_head(&qp->sq);
	more |= rxe_sq_fetch(qp);
	if (!(qp->user && rxe_cork_hold(qp, head)) && !qp->req.exec.sleep)
		more |= rxe_req_send(qp);	/* unless: one page at a time */
	rxe_req_check_failed(qp);
	rxe_retry_arm(qp);
	if (rxe_qp_state(qp) == IB_QPS_SQD && !rxe_req_outstanding(qp))
		rxe_qp_sq_drained(qp);
	return more;
}

static bool rxe_req_run_uc(struct rxe_qp *qp)
{
	struct rxe_req *req = &qp->req;
	struct rxe_swqe *wqe;
	bool more;

	rxe_qp_purge(qp, &req->rxq);
	more = rxe_sq_fetch(qp);
	more |= rxe_req_send(qp);
	req->una = req->psn;
	req->end = req->psn;

	wqe = rxe_swqe(&qp->sq, req->next);
	if (req->next != rxe_sq_head(&qp->sq) && wqe->status != IB_WC_SUCCESS &&
	    (wqe->started || rxe_qp_state(qp) != IB_QPS_SQD))
		rxe_req_unacked_failed(qp, wqe->status);
	else
		rxe_req_sent_done(qp);
	if (rxe_qp_state(qp) == IB_QPS_SQD && !req->off)
		rxe_qp_sq_drained(qp);
	return more;
}

static bool rxe_req_run(struct rxe_exec *x)
{
	struct rxe_qp *qp = container_of(x, struct rxe_qp, req.exec);

	switch (rxe_qp_state(qp)) {
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		if (rxe_qp_is_datagram(qp))
			return rxe_req_run_datagram(qp);
		if (rxe_qp_is_uc(qp))
			return rxe_req_run_uc(qp);
		return rxe_req_run_connected(qp);
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		return rxe_req_flush(qp);
	default:
		rxe_qp_purge(qp, &qp->req.rxq);
		return false;
	}
}

static void rxe_req_get(struct rxe_exec *x)
{
	rxe_qp_get(container_of(x, struct rxe_qp, req.exec));
}

static void rxe_req_put(struct rxe_exec *x)
{
	rxe_qp_put(container_of(x, struct rxe_qp, req.exec));
}

static void rxe_req_prepare(struct rxe_exec *x)
{
	struct rxe_qp *qp = container_of(x, struct rxe_qp, req.exec);

	rxe_fault_handle(&qp->req.fault);
}

void rxe_req_init(struct rxe_qp *qp)
{
	rxe_exec_init(&qp->req.exec, rxe_req_run, rxe_req_get, rxe_req_put,
		      rxe_req_prepare);
	rxe_rxq_init(&qp->req.rxq);
	rxe_route_init(&qp->req.route);
	rxe_retry_init(qp);
	rxe_cork_init(qp);
}

void rxe_req_fini(struct rxe_qp *qp)
{
	rxe_cork_reset(qp);
	rxe_retry_fini(qp);
	rxe_rxq_purge(&qp->req.rxq);
	rxe_route_reset(&qp->req.route);
}

void rxe_req_set_psn(struct rxe_qp *qp, struct roce_psn psn)
{
	qp->req.psn = psn;
	qp->req.una = psn;
	qp->req.end = psn;
	qp->req.window = rxe_req_max_window(qp);
}

void rxe_req_reset(struct rxe_qp *qp)
{
	rxe_cork_reset(qp);
	rxe_retry_reset(qp);
	rxe_rxq_purge(&qp->req.rxq);
	rxe_route_reset(&qp->req.route);
	rxe_sq_reset(qp);
	qp->req.next = qp->sq.tail;
	qp->req.off = 0;
	qp->req.reads = 0;
	qp->req.rd_out = 0;
	qp->req.rd_full = false;
	qp->req.unasked = 0;
	qp->req.ask = false;
	qp->req.progress = false;
	rxe_req_set_psn(qp, qp->req.end);
}
