// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests that send nothing: LOCAL_INV, REG_MR and BIND_MW. */

#include "rxe_access.h"
#include "rxe_fastreg.h"
#include "rxe_local.h"
#include "rxe_mw.h"
#include "rxe_qp.h"
#include "rxe_qp_state.h"
#include "rxe_wqe.h"

static bool rxe_local_may_run(const struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	if (rxe_qp_state(qp) == IB_QPS_SQD)
		return false;
	if (rxe_qp_is_uc(qp))
		return true;
	if (wqe->opcode == IB_WR_LOCAL_INV && qp->sq.tail != qp->req.next)
		return false;
	return !(wqe->flags & IB_SEND_FENCE) || !qp->req.reads;
}

static int rxe_local_execute(struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
		return rxe_key_invalidate(qp, wqe->rkey, false);
	case IB_WR_REG_MR:
		return rxe_fast_register(qp, wqe->reg.mr, wqe->reg.key, wqe->reg.access);
	default:
		return rxe_mw_bind(qp, wqe);
	}
}

static u32 rxe_local_key(const struct rxe_swqe *wqe)
{
	switch (wqe->opcode) {
	case IB_WR_LOCAL_INV:
		return wqe->rkey;
	case IB_WR_REG_MR:
		return wqe->reg.key;
	default:
		return wqe->mw.key;
	}
}

bool rxe_local_run(struct rxe_qp *qp, struct rxe_swqe *wqe)
{
	int err;

	if (!rxe_local_may_run(qp, wqe))
		return false;
	err = rxe_local_execute(qp, wqe);
	if (err) {
		rxe_access_refused(qp, false, rxe_local_key(wqe), 0, 0, err);
		/* IBTA 11.6.2: memory management operation error */
		wqe->status = IB_WC_MW_BIND_ERR;
		return false;
	}
	wqe->started = true;
	return true;
}
