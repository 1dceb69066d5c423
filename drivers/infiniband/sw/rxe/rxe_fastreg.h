/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Fast-registration MRs of kernel users: filled, made valid and taken away by WRs. */
#ifndef RXE_FASTREG_H
#define RXE_FASTREG_H

#include <rdma/ib_verbs.h>

struct rxe_qp;

/**
 * rxe_fast_register - carry out REG_MR
 * @qp:		where it was posted
 * @ibmr:	MR of rxe_alloc_mr(), filled by rxe_map_mr_sg(), not valid
 * @key:	its new key: another low byte than before
 * @access:	IB_ACCESS_* rights
 *
 * Context: BH disabled.
 * Return: 0, -EINVAL not such an MR, or not of this PD; -EBUSY it is valid;
 * -EACCES rights that do not exist here.
 */
int rxe_fast_register(struct rxe_qp *qp, struct ib_mr *ibmr, u32 key, int access);

/* As rxe_key_may_invalidate() and rxe_key_invalidate(), for keys of MRs. */
bool rxe_fast_may_invalidate(struct rxe_qp *qp, u32 key);
int rxe_fast_invalidate(struct rxe_qp *qp, u32 key, bool remote);

/* ib_device_ops */
struct ib_mr *rxe_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int rxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int num, unsigned int *offset);

#endif /* RXE_FASTREG_H */
