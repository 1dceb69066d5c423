/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work requests that send nothing: LOCAL_INV, REG_MR and BIND_MW. */
#ifndef RXE_LOCAL_H
#define RXE_LOCAL_H

#include <linux/types.h>

struct rxe_qp;
struct rxe_swqe;

/**
 * rxe_local_run - carry out a local operation, if its turn has come
 * @qp:		QP
 * @wqe:	req.next, not started
 *
 * Waits for its fence, and LOCAL_INV for everything ahead of it: what is sent
 * again may need the key.  Sets @started when it is done, or @status.
 *
 * Context: the requester's executor, no transient memory held.
 * Return: true when it is done.
 */
bool rxe_local_run(struct rxe_qp *qp, struct rxe_swqe *wqe);

#endif /* RXE_LOCAL_H */
