/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QP state machine: the one file that changes a QP's state. */
#ifndef RXE_QP_STATE_H
#define RXE_QP_STATE_H

#include <rdma/roce.h>
#include "rxe_qp.h"

/*
 * Why a QP's state changes: the status of the work request that has failed, an
 * enum ib_wc_status, or one of these.
 */
enum rxe_qp_why {
	RXE_QP_WHY_MODIFY = 64,		/* modify_qp */
	RXE_QP_WHY_CQ_OVERFLOW,		/* a completion was lost */
	RXE_QP_WHY_SRQ,			/* the SRQ is in error */
	RXE_QP_WHY_NAK,			/* + enum roce_nak: the peer's request was refused */
	RXE_QP_WHY_NAK_INVALID_REQ = RXE_QP_WHY_NAK + ROCE_NAK_INVALID_REQ,
	RXE_QP_WHY_NAK_REM_ACCESS = RXE_QP_WHY_NAK + ROCE_NAK_REM_ACCESS,
	RXE_QP_WHY_NAK_REM_OP = RXE_QP_WHY_NAK + ROCE_NAK_REM_OP,
};

static inline enum ib_qp_state rxe_qp_state(const struct rxe_qp *qp)
{
	return READ_ONCE(qp->state);
}

/* May the responder take requests in? */
static inline bool rxe_qp_can_receive(enum ib_qp_state state)
{
	return state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       state == IB_QPS_SQE;
}

/* May the completer take responses in? */
static inline bool rxe_qp_can_complete(enum ib_qp_state state)
{
	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

/**
 * rxe_qp_set_error - the QP has failed: to ERR, both queues are flushed
 * @qp:		QP
 * @why:	enum ib_wc_status or enum rxe_qp_why
 *
 * Context: any; from an executor, it goes round once more.
 */
void rxe_qp_set_error(struct rxe_qp *qp, u32 why);

/**
 * rxe_qp_set_fatal - as rxe_qp_set_error(), for what no completion can tell
 * @qp:		QP
 * @why:	RXE_QP_WHY_CQ_OVERFLOW or RXE_QP_WHY_SRQ
 *
 * A completion was lost, or the SRQ is in error: reported as QP_FATAL, once.
 *
 * Context: as rxe_qp_set_error().
 */
void rxe_qp_set_fatal(struct rxe_qp *qp, enum rxe_qp_why why);

/* A datagram could not be sent: to SQE, the send queue alone is flushed. */
void rxe_qp_set_sq_error(struct rxe_qp *qp, enum ib_wc_status why);

/* The send queue is drained: SQD's event, if one is owed.  Context: requester's executor. */
void rxe_qp_sq_drained(struct rxe_qp *qp);

#endif /* RXE_QP_STATE_H */
