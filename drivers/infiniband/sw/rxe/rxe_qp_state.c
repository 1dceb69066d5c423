// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QP state machine: modify_qp, query_qp and the ways into the error states. */

#include <linux/net.h>
#include "rxe_cq.h"
#include "rxe_gid.h"
#include "rxe_mw.h"
#include "rxe_netdev.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_trace.h"

static void rxe_qp_change_state(struct rxe_qp *qp, enum ib_qp_state to, u32 why)
{
	lockdep_assert_held(&qp->state_lock);

	if (qp->state == to)
		return;
	trace_rxe_qp_state(dev_name(&qp->rxe->ibdev.dev), qp->qpn, qp->state, to, why);
	WRITE_ONCE(qp->state, to);
}

void rxe_qp_set_error(struct rxe_qp *qp, u32 why)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->state_lock, flags);
	if (qp->state != IB_QPS_RESET)
		rxe_qp_change_state(qp, IB_QPS_ERR, why);
	spin_unlock_irqrestore(&qp->state_lock, flags);

	rxe_exec_kick(&qp->req.exec);
	rxe_exec_kick(&qp->resp.exec);
}

void rxe_qp_set_fatal(struct rxe_qp *qp, enum rxe_qp_why why)
{
	unsigned long flags;
	bool event;

	rxe_qp_set_error(qp, why);

	spin_lock_irqsave(&qp->state_lock, flags);
	event = !qp->fatal;
	qp->fatal = true;
	spin_unlock_irqrestore(&qp->state_lock, flags);

	if (event)
		rxe_qp_event(qp, IB_EVENT_QP_FATAL);
}

void rxe_qp_set_sq_error(struct rxe_qp *qp, enum ib_wc_status why)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->state_lock, flags);
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
		rxe_qp_change_state(qp, IB_QPS_SQE, why);
	spin_unlock_irqrestore(&qp->state_lock, flags);

	rxe_exec_kick(&qp->req.exec);
}

void rxe_qp_sq_drained(struct rxe_qp *qp)
{
	unsigned long flags;
	bool event;

	spin_lock_irqsave(&qp->state_lock, flags);
	event = qp->sqd_event && qp->state == IB_QPS_SQD;
	if (event)
		qp->sqd_event = false;
	spin_unlock_irqrestore(&qp->state_lock, flags);

	if (event)
		rxe_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* Values that no transition makes valid. */
static int rxe_qp_check_values(const struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return -EINVAL;
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index >= RXE_PKEY_TBL_LEN)
		return -EINVAL;
	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > RXE_MAX_RD_ATOM)
		return -EINVAL;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > RXE_MAX_RD_ATOM)
		return -EINVAL;
	if ((mask & IB_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
		return -EINVAL;
	if ((mask & IB_QP_TIMEOUT) && attr->timeout > 31)
		return -EINVAL;
	if ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > 7)
		return -EINVAL;
	if ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > 7)
		return -EINVAL;
	if ((mask & IB_QP_PATH_MTU) && ib_mtu_enum_to_int(attr->path_mtu) < 0)
		return -EINVAL;
	if ((mask & IB_QP_ALT_PATH) || (mask & IB_QP_PATH_MIG_STATE &&
					attr->path_mig_state != IB_MIG_MIGRATED))
		return -EOPNOTSUPP;
	/* many pass the flags of their MRs: what means nothing to a QP does no harm */
	if ((mask & IB_QP_ACCESS_FLAGS) &&
	    (attr->qp_access_flags & ~(IB_ACCESS_SUPPORTED | IB_ACCESS_FLUSH_GLOBAL |
				       IB_ACCESS_FLUSH_PERSISTENT)))
		return -EOPNOTSUPP;
	return 0;
}

static int rxe_qp_check_modify(const struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state new = mask & IB_QP_STATE ? attr->qp_state : cur;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (cur != qp->state && !(qp->state == IB_QPS_SQE && cur == IB_QPS_RTS))
		return -EINVAL;
	if (!ib_modify_qp_is_ok(qp->state, new, rxe_qp_type(qp), mask))
		return -EINVAL;
	return rxe_qp_check_values(qp, attr, mask);
}

/* Refuse a path MTU that would lose every full packet, and say so. */
static int rxe_qp_check_mtu(struct rxe_qp *qp, const struct rxe_path *path, enum ib_mtu mtu)
{
	int limit = rxe_path_mtu(path);

	if (limit == -EMSGSIZE)		/* not even 256 */
		limit = 0;
	if (limit < 0 || ib_mtu_enum_to_int(mtu) <= limit)
		return 0;
	if (net_ratelimit())
		ibdev_warn(&qp->rxe->ibdev,
			   "QP %u: path MTU %d is too large, the route carries %d; use a smaller path MTU or raise the netdev's MTU\n",
			   qp->qpn, ib_mtu_enum_to_int(mtu), limit);
	return -EINVAL;
}

/* What may fail of a transition, ahead of the rest. */
static int rxe_qp_prepare(struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask,
			  struct rxe_path *path, bool user)
{
	enum ib_mtu mtu = mask & IB_QP_PATH_MTU ? attr->path_mtu : qp->attr.path_mtu;
	int err;

	path->sgid = NULL;
	if (user && rxe_qp_is_datagram(qp) && (mask & IB_QP_STATE) &&
	    attr->qp_state == IB_QPS_RTR && !rxe_gid_any_allowed(qp->rxe))
		return -EPERM;
	if (!(mask & IB_QP_AV))
		return 0;
	if (rxe_gid_is_mcast(&attr->ah_attr.grh.dgid))
		return -EINVAL;

	err = rxe_path_init(path, qp->rxe, &attr->ah_attr,
			    qp->qpn ^ (mask & IB_QP_DEST_QPN ? attr->dest_qp_num :
							       qp->attr.dest_qp_num), user);
	if (err)
		return err;
	err = rxe_qp_check_mtu(qp, path, mtu);
	if (err)
		rxe_path_fini(path);
	return err;
}

static void rxe_qp_apply_rc(struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr *a = &qp->attr;

	if (mask & IB_QP_DEST_QPN)
		a->dest_qp_num = attr->dest_qp_num & ROCE_QPN_MASK;
	if (mask & IB_QP_PATH_MTU) {
		a->path_mtu = attr->path_mtu;
		qp->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	}
	if (mask & IB_QP_TIMEOUT)
		a->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		a->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		a->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		a->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		a->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & (IB_QP_RETRY_CNT | IB_QP_RNR_RETRY))
		rxe_retry_progress(qp);
}

static void rxe_qp_apply(struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask,
			 struct rxe_path *path)
{
	struct ib_qp_attr *a = &qp->attr;

	if (path->sgid) {
		rxe_path_fini(&qp->path);
		qp->path = *path;
		WRITE_ONCE(qp->rx_ns, path->sgid->ns);
		rxe_route_reset(&qp->req.route);
		qp->req.progress = false;	/* was made on another path */
		rxe_route_reset(&qp->resp.route);
		a->ah_attr = attr->ah_attr;
		a->ah_attr.grh.sgid_attr = NULL;	/* the core's, not ours to keep */
	}
	if (mask & IB_QP_PKEY_INDEX)
		a->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		a->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		a->qkey = attr->qkey;
	if (mask & IB_QP_ACCESS_FLAGS)
		a->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_RQ_PSN) {
		a->rq_psn = attr->rq_psn & ROCE_PSN_MASK;
		qp->resp.psn = roce_psn(attr->rq_psn);
	}
	if (mask & IB_QP_SQ_PSN) {
		a->sq_psn = attr->sq_psn & ROCE_PSN_MASK;
		rxe_req_set_psn(qp, roce_psn(attr->sq_psn));
	}
	rxe_qp_apply_rc(qp, attr, mask);
	if (path->sgid && rxe_qp_type(qp) == IB_QPT_RC)
		rxe_token_connect(qp);
}

static void rxe_qp_reset(struct rxe_qp *qp)
{
	rxe_cq_unwatch(qp->rcq, qp);
	rxe_mw_unbind_qp(qp);
	rxe_req_reset(qp);
	rxe_resp_reset(qp);
	WRITE_ONCE(qp->rx_ns, NULL);
	rxe_token_disconnect(qp);
	rxe_path_fini(&qp->path);
	memset(&qp->attr, 0, sizeof(qp->attr));
}

static void rxe_qp_enter(struct rxe_qp *qp, enum ib_qp_state new, const struct ib_qp_attr *attr,
			 int mask)
{
	unsigned long flags;

	if (new == IB_QPS_RESET)
		rxe_qp_reset(qp);
	/* a datagram's limit is the port's: look again, it may have changed */
	if (rxe_qp_is_datagram(qp))
		qp->mtu = ib_mtu_enum_to_int(rxe_netdev_mtu(qp->rxe->ndev));

	spin_lock_irqsave(&qp->state_lock, flags);
	if (new == IB_QPS_SQD)
		qp->sqd_event = (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) && attr->en_sqd_async_notify;
	if (new == IB_QPS_RESET)
		qp->fatal = false;
	rxe_qp_change_state(qp, new, RXE_QP_WHY_MODIFY);
	spin_unlock_irqrestore(&qp->state_lock, flags);
}

static int rxe_qp_modify_locked(struct rxe_qp *qp, const struct ib_qp_attr *attr, int mask,
				bool user)
{
	struct rxe_path path;
	int err;

	lockdep_assert_held(&qp->mutex);

	err = rxe_qp_prepare(qp, attr, mask, &path, user);
	if (err)
		return err;

	rxe_exec_disable(&qp->req.exec);
	rxe_exec_disable(&qp->resp.exec);

	/* again, now that no executor can change the state */
	err = rxe_qp_check_modify(qp, attr, mask);
	if (!err && (mask & IB_QP_MAX_DEST_RD_ATOMIC) && rxe_qp_type(qp) == IB_QPT_RC)
		err = rxe_rd_ring_resize(&qp->resp.rd, attr->max_dest_rd_atomic);
	if (!err) {
		rxe_qp_apply(qp, attr, mask, &path);
		if (mask & IB_QP_STATE)
			rxe_qp_enter(qp, attr->qp_state, attr, mask);
	} else {
		rxe_path_fini(&path);
	}

	rxe_exec_enable(&qp->resp.exec);
	rxe_exec_enable(&qp->req.exec);
	return err;
}

int rxe_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct rxe_qp *qp = to_rqp(ibqp);
	int err;

	if (mask & IB_QP_STATE)
		rxe_cork_release(qp);
	mutex_lock(&qp->mutex);
	err = rxe_qp_check_modify(qp, attr, mask);
	if (!err)
		err = rxe_qp_modify_locked(qp, attr, mask, udata);
	mutex_unlock(&qp->mutex);
	if (err)
		return err;

	/* what was posted before this state can go now, or be flushed */
	rxe_exec_kick(&qp->req.exec);
	rxe_exec_kick(&qp->resp.exec);
	return 0;
}

int rxe_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init)
{
	struct rxe_qp *qp = to_rqp(ibqp);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	attr->qp_state = rxe_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->rq_psn = qp->resp.psn.v;
	attr->sq_psn = qp->req.psn.v;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD && rxe_req_outstanding(qp);
	attr->cap.max_send_wr = qp->sq.max_wr;
	attr->cap.max_send_sge = qp->sq.max_sge;
	attr->cap.max_inline_data = qp->sq.max_inline;
	attr->cap.max_recv_wr = qp->rq.max_wr;
	attr->cap.max_recv_sge = qp->rq.max_sge;
	mutex_unlock(&qp->mutex);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	return 0;
}
