// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Responder of datagram QPs (UD, GSI): one packet, one receive WQE. */

#include "rxe_copy.h"
#include "rxe_cq.h"
#include "rxe_gid.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_resp.h"
#include "rxe_stats.h"

#define RXE_DATAGRAM_BUDGET	256

/*
 * User space has no field for the network header's type.  Hardware puts it into the
 * service level, which RoCE has no use for, and UCX looks for it there.
 */
#define RXE_WC_SL_IPV6		1
#define RXE_WC_SL_IPV4		2

/* The 40 bytes of GRH come first, then the payload. */
static int rxe_datagram_scatter(struct rxe_qp *qp, const struct sk_buff *skb,
				const struct rxe_pkt *pkt)
{
	struct rxe_sg_cursor sg = {};
	u8 grh[ROCE_GRH_SIZE];
	int err;

	rxe_skb_grh(skb, grh);
	rxe_sg_start(&sg, qp->rq.pd, qp->rq.cur.sge, qp->rq.cur.num_sge, IB_ACCESS_LOCAL_WRITE, 0);
	err = rxe_sg_write(&sg, grh, sizeof(grh));
	if (!err)
		err = rxe_sg_write(&sg, pkt->payload, pkt->payload_len);
	if (err == -EAGAIN)
		err = rxe_sg_wait(&sg, &qp->resp.fault);
	if (unlikely(err && err != -EAGAIN))
		rxe_sg_refused(&sg, qp, err);
	rxe_sg_release(&sg);
	return err;
}

/* The CM answers on the VLAN that a request came from. */
static void rxe_datagram_set_vlan(struct rxe_qp *qp, struct sk_buff *skb, struct ib_wc *wc)
{
	const struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	union ib_gid daddr;

	rxe_skb_daddr(skb, &daddr);
	wc->vlan_id = rxe_gid_vlan(qp->rxe, cb->ns, &daddr, cb->ifindex);
	if (wc->vlan_id != RXE_GID_NO_VLAN)
		wc->wc_flags |= IB_WC_WITH_VLAN;
}

static void rxe_datagram_complete(struct rxe_qp *qp, struct sk_buff *skb,
				  const struct rxe_pkt *pkt)
{
	bool ipv4 = skb->protocol == htons(ETH_P_IP);
	struct ib_wc wc = {
		.status		= IB_WC_SUCCESS,
		.opcode		= IB_WC_RECV,
		.byte_len	= pkt->payload_len + ROCE_GRH_SIZE,
		.src_qp		= pkt->sqpn,
		.wc_flags	= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6,
	};

	if (pkt->info->flags & RXE_OP_IMMDT) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	/* User space has no place for the VLAN. */
	if (qp->user)
		wc.sl = ipv4 ? RXE_WC_SL_IPV4 : RXE_WC_SL_IPV6;
	else
		rxe_datagram_set_vlan(qp, skb, &wc);
	rxe_count(qp->rxe, RXE_CNT_RDMA_RECV);
	rxe_resp_recv_done(qp, &wc, pkt->se);
}

static void rxe_datagram_failed(struct rxe_qp *qp, enum ib_wc_status status)
{
	struct ib_wc wc = { .status = status, .opcode = IB_WC_RECV };

	rxe_qp_set_error(qp, status);
	rxe_resp_recv_done(qp, &wc, true);
}

/* False: a page must be faulted in first. */
static bool rxe_datagram_packet(struct rxe_qp *qp, struct sk_buff *skb,
				const struct rxe_pkt *pkt)
{
	int status, err;

	if (pkt->qkey != qp->attr.qkey) {
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_QKEY);
		return true;
	}

	status = rxe_rq_get(qp);
	if (status < 0) {
		if (status == RXE_RQ_BROKEN)
			rxe_qp_set_fatal(qp, RXE_QP_WHY_SRQ);
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_NO_WQE);
	} else if (status != IB_WC_SUCCESS) {
		rxe_wqe_bad(qp, qp->rq.cur.wr_id, 0, RXE_BAD_RECV_NUM_SGE);
		rxe_datagram_failed(qp, status);
	} else if ((u64)pkt->payload_len + ROCE_GRH_SIZE > qp->rq.cur.length) {
		/* the WQE stays for the next one (IBTA 9.8.2.2.4) */
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_LENGTH);
	} else {
		err = rxe_datagram_scatter(qp, skb, pkt);
		if (err == -EAGAIN)
			return false;
		if (err)
			rxe_datagram_failed(qp, IB_WC_LOC_PROT_ERR);
		else
			rxe_datagram_complete(qp, skb, pkt);
	}
	return true;
}

bool rxe_datagram_run(struct rxe_qp *qp)
{
	unsigned int budget = RXE_DATAGRAM_BUDGET;
	struct rxe_pkt pkt __uninitialized;

	while (rxe_qp_can_receive(rxe_qp_state(qp)) &&
	       rxe_qp_next_packet(qp, &qp->resp.rxq, &pkt, &budget)) {
		if (rxe_datagram_packet(qp, qp->resp.rxq.cur, &pkt))
			continue;
		rxe_rx_again(qp->rxe, qp->resp.rxq.cur, 1);
		qp->resp.exec.sleep = true;
		return true;
	}
	return !budget;
}
