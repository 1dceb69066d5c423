// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requester of datagram QPs (UD, GSI): one element, one packet, with a path of its own. */

#include "rxe_packet.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_req_run.h"

/* Two datagrams can share a burst when everything ahead of the BTH is equal. */
static bool rxe_req_same_path(const struct rxe_path *a, const struct rxe_path *b)
{
	return a && a->sgid == b->sgid && !memcmp(&a->dgid, &b->dgid, sizeof(a->dgid)) &&
	       a->tclass == b->tclass && a->hop_limit == b->hop_limit &&
	       a->flow_label == b->flow_label && a->sport == b->sport;
}

static int rxe_req_send_datagram(struct rxe_req_run *run, struct rxe_swqe *wqe)
{
	struct rxe_qp *qp = run->qp;
	bool imm = wqe->opcode == IB_WR_SEND_WITH_IMM;
	struct rxe_pkt pkt = {
		.opcode	= ROCE_SERVICE_UD | (imm ? ROCE_OP_SEND_ONLY_IMM : ROCE_OP_SEND_ONLY),
		.pkey	= ROCE_DEFAULT_PKEY,
		.qpn	= wqe->dqpn,
		.psn	= qp->req.psn,
		.se	= wqe->flags & IB_SEND_SOLICITED,
		.imm	= wqe->imm,
		/* the high bit asks for the QP's own key (IBTA 10.2.5) */
		.qkey	= wqe->qkey & BIT(31) ? qp->attr.qkey : wqe->qkey,
		.sqpn	= qp->qpn,
	};
	int err;

	err = rxe_req_emit(run, &pkt, wqe, qp->req.next, 0, wqe->length);
	if (err != -EAGAIN)
		qp->req.psn = roce_psn_add(qp->req.psn, 1);
	return err;
}

/* True: budget used up. */
static bool rxe_req_send_datagrams(struct rxe_qp *qp)
{
	struct rxe_req_run run __uninitialized;
	enum ib_wc_status failed = IB_WC_SUCCESS;
	const struct rxe_path *path = NULL;
	unsigned int budget = RXE_REQ_BUDGET;
	int err;

	rxe_req_begin(&run, qp);
	while (budget && qp->req.next != rxe_sq_head(&qp->sq)) {
		struct rxe_swqe *wqe = rxe_swqe(&qp->sq, qp->req.next);

		failed = wqe->status;
		if (failed != IB_WC_SUCCESS)
			break;
		if (!rxe_req_same_path(path, &wqe->path)) {
			if (path)
				rxe_tx_end(&run.tx);
			path = &wqe->path;
			rxe_tx_begin(&run.tx, qp->rxe, qp->qpn, path, NULL);
		}
		err = rxe_req_send_datagram(&run, wqe);
		if (err == -EAGAIN)
			break;
		failed = rxe_wc_status_from_errno(err);
		if (failed != IB_WC_SUCCESS)
			break;
		qp->req.next++;
		budget--;
	}

	rxe_sg_release(&run.sg);
	if (path)
		rxe_tx_end(&run.tx);
	if (failed != IB_WC_SUCCESS)
		rxe_req_unacked_failed(qp, failed);
	else
		rxe_req_sent_done(qp);
	qp->req.exec.sleep |= run.waits;
	return run.waits || !budget;
}

bool rxe_req_run_datagram(struct rxe_qp *qp)
{
	bool more;

	rxe_qp_purge(qp, &qp->req.rxq);
	if (rxe_qp_state(qp) == IB_QPS_SQD) {
		rxe_qp_sq_drained(qp);
		return false;
	}
	more = rxe_sq_fetch(qp);
	return rxe_req_send_datagrams(qp) || more;
}
