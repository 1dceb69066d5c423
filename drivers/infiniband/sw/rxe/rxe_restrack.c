// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Details for `rdma -dd resource show`: what one wants to know of a connection
 * that does not move.  The core keeps the object while it is asked for.
 *
 * What an executor owns is read without it: each value has been true, all of
 * them together may never have been.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "rxe_cq.h"
#include "rxe_mr.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_restrack.h"
#include "rxe_srq.h"

/**
 * struct rxe_res_item - one line of details
 * @name:	as it is printed, behind "drv_"
 * @value:	its value
 * @hex:	print it so
 */
struct rxe_res_item {
	const char	*name;
	u64		value;
	bool		hex;
};

static int rxe_res_put(struct sk_buff *msg, const struct rxe_res_item *items, unsigned int num)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	unsigned int i;
	int err;

	if (!table)
		return -EMSGSIZE;
	for (i = 0; i < num; i++) {
		if (items[i].hex)
			err = rdma_nl_put_driver_u64_hex(msg, items[i].name, items[i].value);
		else
			err = rdma_nl_put_driver_u64(msg, items[i].name, items[i].value);
		if (err) {
			nla_nest_cancel(msg, table);
			return err;
		}
	}
	nla_nest_end(msg, table);
	return 0;
}

/* Send WQEs that are not completed. */
static u32 rxe_res_sq_posted(const struct rxe_qp *qp)
{
	if (qp->user)
		return rxe_ring_pending(&qp->sq.ring);
	return READ_ONCE(qp->sq.head) - READ_ONCE(qp->sq.tail);
}

static u32 rxe_res_rq_posted(const struct rxe_qp *qp)
{
	return qp->rq.srq ? READ_ONCE(qp->rq.cur.valid) : rxe_ring_pending(&qp->rq.ring);
}

int rxe_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct rxe_qp *qp = to_rqp(ibqp);
	const struct rxe_req *req = &qp->req;
	const struct rxe_resp *resp = &qp->resp;
	const struct rxe_res_item items[] = {
		{ "path_mtu", READ_ONCE(qp->mtu) },
		{ "sq_size", qp->sq.max_wr },
		{ "sq_posted", rxe_res_sq_posted(qp) },
		{ "rq_size", qp->rq.max_wr },
		{ "rq_posted", rxe_res_rq_posted(qp) },
		{ "una_psn", READ_ONCE(req->una.v) },
		{ "next_psn", READ_ONCE(req->psn.v) },
		{ "end_psn", READ_ONCE(req->end.v) },
		{ "window", READ_ONCE(req->window) },
		{ "retries_left", READ_ONCE(req->retry.left) },
		{ "rnr_retries_left", READ_ONCE(req->retry.rnr_left) },
		{ "rnr_wait", READ_ONCE(req->retry.rnr_wait) },
		{ "expected_psn", READ_ONCE(resp->psn.v) },
		{ "msn", READ_ONCE(resp->msn) },
	};

	return rxe_res_put(msg, items, ARRAY_SIZE(items));
}

int rxe_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct rxe_cq *cq = to_rcq(ibcq);
	const struct rxe_res_item items[] = {
		{ "pending", rxe_cq_pending(cq) },
		{ "armed", READ_ONCE(cq->armed) },
		{ "overflowed", READ_ONCE(cq->overflowed) },
	};

	return rxe_res_put(msg, items, ARRAY_SIZE(items));
}

int rxe_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct rxe_mr *mr = to_rmr(ibmr);
	const struct rxe_res_item items[] = {
		{ "access", mr->access, true },
		{ "blocks", mr->nr_blocks },
	};

	return rxe_res_put(msg, items, ARRAY_SIZE(items));
}

int rxe_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct rxe_srq *srq = to_rsrq(ibsrq);
	const struct rxe_res_item items[] = {
		{ "size", READ_ONCE(srq->ring.mask) },
		{ "max_sge", srq->max_sge },
		{ "posted", rxe_srq_pending(srq) },
		{ "limit", READ_ONCE(srq->limit) },
		{ "broken", READ_ONCE(srq->broken) },
	};

	return rxe_res_put(msg, items, ARRAY_SIZE(items));
}
