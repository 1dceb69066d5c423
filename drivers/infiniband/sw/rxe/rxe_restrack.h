/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Details for `rdma -dd resource show`. */
#ifndef RXE_RESTRACK_H
#define RXE_RESTRACK_H

#include <rdma/ib_verbs.h>

/* ib_device_ops */
int rxe_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp);
int rxe_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq);
int rxe_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr);
int rxe_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq);

#endif /* RXE_RESTRACK_H */
