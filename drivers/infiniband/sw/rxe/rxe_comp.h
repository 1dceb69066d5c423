/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completer: responses to completions.  All of it runs in the requester's executor. */
#ifndef RXE_COMP_H
#define RXE_COMP_H

#include <rdma/ib_verbs.h>

struct rxe_qp;

/* Take in the responses that wait.  Return: true: budget used up. */
bool rxe_comp_run(struct rxe_qp *qp);

/**
 * rxe_comp_done - complete the oldest element of the send queue
 * @status:	IB_WC_SUCCESS, or an error: always reported
 */
void rxe_comp_done(struct rxe_qp *qp, enum ib_wc_status status);

/**
 * rxe_comp_fail - complete the oldest element with an error and fail the QP
 *
 * The rest is flushed when the executor goes round again.
 */
void rxe_comp_fail(struct rxe_qp *qp, enum ib_wc_status status);

#endif /* RXE_COMP_H */
