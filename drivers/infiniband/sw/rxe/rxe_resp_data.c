// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Payload of SENDs and WRITEs to memory: packet by packet, and several middle ones at once. */

#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_resp_run.h"

/* A packet's data could not be stored. */
static void rxe_resp_recv_refused(struct rxe_resp_run *run, int err)
{
	if (err == -EAGAIN)
		err = rxe_sg_wait(&run->sg, &run->qp->resp.fault);
	run->waits = err == -EAGAIN;
	if (run->waits)
		return;
	rxe_sg_refused(&run->sg, run->qp, err);
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
		rxe_sg_start(&run->sg, qp->rq.pd, qp->rq.cur.sge, qp->rq.cur.num_sge,
			     IB_ACCESS_LOCAL_WRITE, qp->resp.received);
		run->sg_valid = true;
	}
	i = rxe_sg_write_many(&run->sg, data, len, stride, num, err);
	qp->resp.received += i * len;
	return i;
}

bool rxe_resp_exec_send(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
{
	struct rxe_qp *qp = run->qp;
	int err;

	if (pkt->info->flags & RXE_OP_FIRST) {
		run->sg_valid = false;
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

bool rxe_resp_exec_write(struct rxe_resp_run *run, const struct rxe_pkt *pkt)
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

void rxe_resp_middles(struct rxe_resp_run *run)
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
