/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address handles. */
#ifndef RXE_AH_H
#define RXE_AH_H

#include <rdma/ib_verbs.h>
#include "rxe_route.h"

struct rxe_pd;

/**
 * struct rxe_ah - address handle
 * @ibah:	core's part
 * @ah_num:	index in rxe_dev.ahs, not zero
 * @path:	owned; read under the xa_lock of rxe_dev.ahs, or by a kernel
 *		caller that may use the AH anyway
 * @attr:	for query_ah
 */
struct rxe_ah {
	struct ib_ah		ibah;
	u32			ah_num;
	struct rxe_path		path;
	struct rdma_ah_attr	attr;
};

static inline struct rxe_ah *to_rah(struct ib_ah *ibah)
{
	return container_of(ibah, struct rxe_ah, ibah);
}

/**
 * rxe_ah_path - copy the path of the AH that a user's WQE names
 * @pd:		PD that the AH must belong to
 * @ah_num:	as in the WQE, any value
 * @path:	result, with a reference of its own
 *
 * Context: any; takes the xa_lock of rxe_dev.ahs (irqsave).
 * Return: 0, -EINVAL.
 */
int rxe_ah_path(struct rxe_pd *pd, u32 ah_num, struct rxe_path *path);

/* ib_device_ops */
int rxe_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int rxe_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rxe_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int rxe_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* RXE_AH_H */
