/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows, type 1 and type 2B. */
#ifndef RXE_MW_H
#define RXE_MW_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "rxe_mr.h"

struct rxe_mem;
struct rxe_qp;
struct rxe_swqe;

/**
 * struct rxe_mw - memory window
 * @ibmw:	core's part; freed by the core right after dealloc_mw
 * @index:	place in the table of the device
 * @variant:	low byte of the key
 * @mr:		what it is bound to; NULL: it is not.  Counted in mr->windows
 * @qp:		type 2, bound: the QP, for comparison; counted in qp->windows
 * @access:	rights
 * @va:		first byte, an address of @mr
 * @length:	bytes
 * @ending:	somebody takes the binding away and waits for the holders
 * @ref:	one for the table, one for each holder
 * @freed:	completed when @ref reaches zero; dealloc waits for it
 *
 * Everything but @ref is protected by the lock of the table.
 */
struct rxe_mw {
	struct ib_mw		ibmw;
	u32			index;
	u8			variant;
	struct rxe_mr		*mr;
	struct rxe_qp		*qp;
	int			access;
	u64			va;
	u64			length;
	bool			ending;
	refcount_t		ref;
	struct completion	freed;
};

static inline struct rxe_mw *to_rmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct rxe_mw, ibmw);
}

/* Windows have the upper half of the indices. */
static inline bool rxe_key_is_mw(u32 key)
{
	return rxe_key_index(key) >= RXE_MW_INDEX_MIN;
}

/* As rxe_mem_get(), rxe_key_may_invalidate() and rxe_key_invalidate(), for keys of windows. */
int rxe_mw_get(struct rxe_qp *qp, u32 key, int access, u64 va, u64 len, struct rxe_mem *mem);
bool rxe_mw_may_invalidate(struct rxe_qp *qp, u32 key);
int rxe_mw_invalidate(struct rxe_qp *qp, u32 key, bool remote);

/* Drop a reference of rxe_mw_get().  Context: any. */
void rxe_mw_put(struct rxe_mw *mw);

/**
 * rxe_mw_bind - carry out BIND_MW
 * @qp:		where it was posted
 * @wqe:	window and its new key, MR, rights and range
 *
 * A type 1 window that is bound loses that binding, and is only unbound when
 * the length is 0.  The rules are those of IBTA 10.6.7.2.
 *
 * Context: BH disabled; the caller holds no transient memory.
 * Return: 0, -EINVAL, -EACCES, -ERANGE, -EBUSY: the old binding is kept.
 */
int rxe_mw_bind(struct rxe_qp *qp, const struct rxe_swqe *wqe);

/**
 * rxe_mw_unbind_qp - take the type 2 windows of a QP away
 * @qp:		QP that ends or is reset, executors disabled
 *
 * Context: process.
 */
void rxe_mw_unbind_qp(struct rxe_qp *qp);

/* ib_device_ops */
int rxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int rxe_dealloc_mw(struct ib_mw *ibmw);

#endif /* RXE_MW_H */
