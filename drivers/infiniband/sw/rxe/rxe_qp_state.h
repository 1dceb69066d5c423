/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QP state machine: the one file that changes a QP's state. */
#ifndef RXE_QP_STATE_H
#define RXE_QP_STATE_H

#include "rxe_qp.h"

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
 *
 * Context: any; from an executor, it goes round once more.
 */
void rxe_qp_set_error(struct rxe_qp *qp);

/**
 * rxe_qp_set_fatal - as rxe_qp_set_error(), for what no completion can tell
 *
 * A completion was lost, or the SRQ is in error: reported as QP_FATAL, once.
 *
 * Context: as rxe_qp_set_error().
 */
void rxe_qp_set_fatal(struct rxe_qp *qp);

/* A datagram could not be sent: to SQE, the send queue alone is flushed. */
void rxe_qp_set_sq_error(struct rxe_qp *qp);

/* The send queue is drained: SQD's event, if one is owed.  Context: requester's executor. */
void rxe_qp_sq_drained(struct rxe_qp *qp);

#endif /* RXE_QP_STATE_H */
