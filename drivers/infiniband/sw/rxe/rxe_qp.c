// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs: the object, its table and its references. */

#include <linux/random.h>
#include <rdma/uverbs_ioctl.h>
#include "rxe_cq.h"
#include "rxe_gid.h"
#include "rxe_mw.h"
#include "rxe_netdev.h"
#include "rxe_pd.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_srq.h"
#include "rxe_stats.h"

/*
 * All QPs of the module but the QP 1s.  A packet brings nothing but a QPN, so
 * these are unique over all devices and namespaces.  The xa_lock (BH) makes a
 * lookup and its reference one step; it also protects rxe_dev.gsi_qp.
 */
static DEFINE_XARRAY_FLAGS(rxe_qps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH);
static u32 rxe_qpn_next;

#define RXE_QPN_MIN	16
#define RXE_QPN_MAX	(ROCE_MULTICAST_QPN - 1)

void rxe_qp_get(struct rxe_qp *qp)
{
	refcount_inc(&qp->ref);
}

void rxe_qp_put(struct rxe_qp *qp)
{
	if (refcount_dec_and_test(&qp->ref))
		complete(&qp->freed);
}

struct rxe_qp *rxe_qp_lookup(u32 qpn)
{
	struct rxe_qp *qp;

	xa_lock_bh(&rxe_qps);
	qp = xa_load(&rxe_qps, qpn);
	if (qp)
		rxe_qp_get(qp);
	xa_unlock_bh(&rxe_qps);
	return qp;
}

struct rxe_qp *rxe_qp_lookup_gsi(struct rxe_dev *rxe)
{
	struct rxe_qp *qp;

	xa_lock_bh(&rxe_qps);
	qp = rxe->gsi_qp;
	if (qp)
		rxe_qp_get(qp);
	xa_unlock_bh(&rxe_qps);
	return qp;
}

static int rxe_qp_publish(struct rxe_qp *qp)
{
	int err = 0;

	if (rxe_qp_type(qp) != IB_QPT_GSI) {
		err = xa_alloc_cyclic_bh(&rxe_qps, &qp->qpn, qp,
					 XA_LIMIT(RXE_QPN_MIN, RXE_QPN_MAX), &rxe_qpn_next,
					 GFP_KERNEL);
		return err < 0 ? err : 0;
	}

	qp->qpn = ROCE_GSI_QPN;
	xa_lock_bh(&rxe_qps);
	if (qp->rxe->gsi_qp)
		err = -EBUSY;
	else
		qp->rxe->gsi_qp = qp;
	xa_unlock_bh(&rxe_qps);
	return err;
}

static void rxe_qp_withdraw(struct rxe_qp *qp)
{
	if (rxe_qp_type(qp) != IB_QPT_GSI) {
		xa_erase_bh(&rxe_qps, qp->qpn);
		return;
	}
	xa_lock_bh(&rxe_qps);
	qp->rxe->gsi_qp = NULL;
	xa_unlock_bh(&rxe_qps);
}

void rxe_qp_queue(struct rxe_qp *qp, struct sk_buff *skb, bool response)
{
	if (rxe_rxq_add(response ? &qp->req.rxq : &qp->resp.rxq, skb))
		return;
	rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_QUEUE);
	rxe_rx_free(skb);
}

/* Is the burst from this connection's peer?  Datagrams: to one of our addresses? */
static bool rxe_qp_is_ours(struct rxe_qp *qp, struct sk_buff *skb)
{
	const struct rxe_skb_cb *cb = rxe_skb_cb(skb);
	const struct rxe_gid_entry *sgid = qp->path.sgid;
	union ib_gid saddr, daddr;

	if (cb->mcast)
		return rxe_qp_type(qp) == IB_QPT_UD;
	rxe_skb_daddr(skb, &daddr);
	if (rxe_qp_is_datagram(qp)) {
		bool local;

		rcu_read_lock();
		local = rxe_gid_is_local(qp->rxe, cb->ns, &daddr, cb->ifindex);
		rcu_read_unlock();
		return local;
	}

	if (!sgid || sgid->ns != cb->ns || memcmp(&daddr, &sgid->gid, sizeof(daddr)))
		return false;
	if (sgid->linklocal && cb->ifindex != sgid->ifindex)
		return false;
	rxe_skb_saddr(skb, &saddr);
	return !memcmp(&saddr, &qp->path.dgid, sizeof(saddr));
}

/* The burst at hand, or the next one.  False: none waits. */
static bool rxe_qp_next_burst(struct rxe_qp *qp, struct rxe_rxq *rxq, unsigned int *budget)
{
	struct sk_buff *skb;

	while (!rxq->cur && *budget) {
		skb = rxe_rxq_take(rxq);
		if (!skb)
			return false;
		if (likely(rxe_qp_is_ours(qp, skb))) {
			rxq->cur = skb;
			break;
		}
		--*budget;
		rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_ADDRESS);
		rxe_rx_free(skb);
	}
	return rxq->cur;
}

/* IBTA 9.6.1: is the packet of this QP's service and partition? */
static enum rxe_drop rxe_qp_check_packet(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	if ((pkt->opcode & ROCE_SERVICE_MASK) != rxe_qp_service(qp))
		return RXE_DROP_QP_TYPE;
	/* we are a full member: limited members may talk to us (IBTA 10.9.3) */
	if ((pkt->pkey ^ ROCE_DEFAULT_PKEY) & ROCE_PKEY_BASE)
		return RXE_DROP_PKEY;
	return RXE_DROP_NONE;
}

/*
 * A burst goes to the executor that its first packet is for.  If its last one is for
 * the other, as an ACK behind a request is, it goes there.
 */
static bool rxe_qp_hand_over(struct rxe_qp *qp, struct rxe_rxq *rxq)
{
	enum ib_qp_state state = rxe_qp_state(qp);
	bool response = rxq == &qp->req.rxq;
	struct sk_buff *skb = rxq->cur;

	if (likely(!rxe_rx_turns(skb, response)) || rxe_qp_type(qp) != IB_QPT_RC)
		return false;
	/* who could do nothing with it would count it as something else */
	if (response ? !rxe_qp_can_receive(state) : !rxe_qp_can_complete(state))
		return false;
	rxq->cur = NULL;
	rxe_qp_queue(qp, skb, !response);
	rxe_qp_kick(qp, !response);
	return true;
}

bool rxe_qp_next_packet(struct rxe_qp *qp, struct rxe_rxq *rxq, struct rxe_pkt *pkt,
			unsigned int *budget)
{
	while (*budget && rxe_qp_next_burst(qp, rxq, budget)) {
		enum rxe_rx_result result;
		enum rxe_drop why;

		if (rxe_qp_hand_over(qp, rxq))
			continue;
		result = rxe_rx_next(qp, rxq->cur, pkt);
		if (result == RXE_RX_END) {
			rxe_rx_free(rxq->cur);
			rxq->cur = NULL;
			continue;
		}
		--*budget;
		if (result == RXE_RX_BAD)
			continue;
		why = rxe_qp_check_packet(qp, pkt);
		if (why == RXE_DROP_NONE)
			return true;
		rxe_rx_drop(qp->rxe, qp->qpn, why);
	}
	return false;
}

void rxe_qp_purge(struct rxe_qp *qp, struct rxe_rxq *rxq)
{
	if (rxe_rxq_idle(rxq))
		return;
	/* the last packet that was taken may have failed the QP: nothing is lost then */
	if (rxq->cur && rxe_rx_is_over(rxq->cur)) {
		rxe_rx_free(rxq->cur);
		rxq->cur = NULL;
		if (rxe_rxq_idle(rxq))
			return;
	}
	rxe_rx_drop(qp->rxe, qp->qpn, RXE_DROP_QP_STATE);
	rxe_rxq_purge(rxq);
}

void rxe_qp_event(struct rxe_qp *qp, enum ib_event_type event)
{
	struct ib_event ev = {
		.device		= &qp->rxe->ibdev,
		.element.qp	= &qp->ibqp,
		.event		= event,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
}

static int rxe_qp_check_init(const struct ib_qp_init_attr *init, const struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (udata)
			return -EPERM;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (init->srq && init->qp_type == IB_QPT_GSI)
		return -EOPNOTSUPP;
	if (init->srq && init->qp_type == IB_QPT_UC)	/* ibv_create_qp(3) */
		return -EINVAL;
	/* a process and a kernel user cannot share one: their rings differ in who fills them */
	if (init->srq && to_rsrq(init->srq)->user != !!udata)
		return -EINVAL;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > RXE_MAX_QP_WR || cap->max_send_sge > RXE_MAX_SGE ||
	    cap->max_inline_data > RXE_MAX_INLINE)
		return -EINVAL;
	if (!init->srq && (cap->max_recv_wr > RXE_MAX_QP_WR || cap->max_recv_sge > RXE_MAX_SGE))
		return -EINVAL;
	return 0;
}

static void rxe_qp_init(struct rxe_qp *qp, struct rxe_dev *rxe, struct ib_qp_init_attr *init,
			bool user)
{
	qp->rxe = rxe;
	refcount_set(&qp->ref, 1);
	init_completion(&qp->freed);
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->state_lock);
	qp->user = user;
	qp->pd = to_rpd(qp->ibqp.pd);
	qp->scq = to_rcq(init->send_cq);
	qp->rcq = to_rcq(init->recv_cq);
	qp->rq.srq = init->srq ? to_rsrq(init->srq) : NULL;
	qp->rq.pd = init->srq ? to_rpd(init->srq->pd) : qp->pd;
	INIT_LIST_HEAD(&qp->watch);
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->mtu = ib_mtu_enum_to_int(rxe_netdev_mtu(rxe->ndev));
	qp->path.sgid = NULL;
	rxe_token_init(&qp->token);
	rxe_req_init(qp);
	rxe_resp_init(qp);
}

/* The rings, and what the process needs to know of them. */
static int rxe_qp_init_queues(struct rxe_qp *qp, struct ib_qp_cap *cap, struct ib_udata *udata)
{
	struct rxe_create_qp_resp resp = {};
	int err;

	err = rxe_sq_init(&qp->sq, cap, udata, &resp.sq_mi);
	if (err)
		return err;
	err = rxe_rq_init(&qp->rq, cap, udata, &resp.rq_mi);
	if (err)
		goto err_sq;
	if (udata) {
		err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
		if (err)
			goto err_rq;
	}
	return 0;

err_rq:
	rxe_rq_fini(&qp->rq);
err_sq:
	rxe_sq_fini(&qp->sq);
	return err;
}

int rxe_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibqp->device);
	struct rxe_qp *qp = to_rqp(ibqp);
	int err;

	if (udata && udata->outlen < sizeof(struct rxe_create_qp_resp))
		return -EINVAL;
	err = rxe_qp_check_init(init, udata);
	if (err)
		return err;
	if (!rxe_limit_get(&rxe->num_qp, RXE_MAX_QP))
		return -ENOMEM;

	rxe_qp_init(qp, rxe, init, udata);
	err = rxe_qp_init_queues(qp, &init->cap, udata);
	if (err)
		goto err_limit;
	err = rxe_qp_publish(qp);
	if (err)
		goto err_queues;
	ibqp->qp_num = qp->qpn;
	return 0;

err_queues:
	rxe_rq_fini(&qp->rq);
	rxe_sq_fini(&qp->sq);
err_limit:
	rxe_limit_put(&rxe->num_qp);
	return err;
}

int rxe_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct rxe_qp *qp = to_rqp(ibqp);

	rxe_cork_release(qp);
	rxe_qp_withdraw(qp);
	rxe_exec_disable(&qp->req.exec);
	rxe_exec_disable(&qp->resp.exec);
	rxe_token_disconnect(qp);
	/* timers first: their handlers touch the QP without a reference */
	rxe_cork_reset(qp);
	rxe_retry_fini(qp);
	rxe_late_ack_fini(qp);
	rxe_qp_put(qp);
	wait_for_completion(&qp->freed);

	rxe_cq_unwatch(qp->rcq, qp);
	rxe_mw_unbind_qp(qp);
	rxe_cq_clean(qp->scq, ibqp);
	rxe_cq_clean(qp->rcq, ibqp);
	rxe_req_fini(qp);
	rxe_resp_fini(qp);
	rxe_sq_reset(qp);
	rxe_sq_fini(&qp->sq);
	rxe_rq_fini(&qp->rq);
	rxe_path_fini(&qp->path);
	rxe_limit_put(&qp->rxe->num_qp);
	return 0;
}

static int rxe_post_check(const struct rxe_qp *qp, bool send)
{
	enum ib_qp_state state = rxe_qp_state(qp);

	if (state == IB_QPS_RESET)
		return -EINVAL;
	if (send && (state == IB_QPS_INIT || state == IB_QPS_RTR))
		return -EINVAL;
	return 0;
}

int rxe_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad)
{
	struct rxe_qp *qp = to_rqp(ibqp);
	unsigned long flags;
	int err;

	err = rxe_post_check(qp, true);
	if (!err && qp->user) {
		if (!wr) {		/* the doorbell */
			u64 rung = rxe_cork_doorbell(qp);

			rxe_exec_kick(&qp->req.exec);
			rxe_cork_doorbell_served(qp, rung);
			return 0;
		}
		err = -EINVAL;		/* processes write their rings themselves */
	}
	if (err) {
		*bad = wr;
		return err;
	}

	spin_lock_irqsave(&qp->sq.lock, flags);
	for (; wr; wr = wr->next) {
		err = rxe_sq_post(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	rxe_exec_kick_deferred(&qp->req.exec);
	return err;
}

int rxe_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad)
{
	struct rxe_qp *qp = to_rqp(ibqp);
	unsigned long flags;
	int err;

	err = qp->user || qp->rq.srq ? -EINVAL : rxe_post_check(qp, false);
	if (err) {
		*bad = wr;
		return err;
	}

	spin_lock_irqsave(&qp->rq.lock, flags);
	for (; wr; wr = wr->next) {
		err = rxe_rq_post(qp, wr);
		if (err) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&qp->rq.lock, flags);
	smp_mb();	/* either the flush sees the WQE, or we see the state */
	if (rxe_qp_state(qp) == IB_QPS_ERR)
		rxe_exec_kick_deferred(&qp->resp.exec);
	return err;
}

int __init rxe_qp_module_init(void)
{
	rxe_token_module_init();
	rxe_qpn_next = get_random_u32_inclusive(RXE_QPN_MIN, RXE_QPN_MAX);
	return 0;
}

void rxe_qp_module_exit(void)
{
	WARN_ON(!xa_empty(&rxe_qps));
	xa_destroy(&rxe_qps);
}
