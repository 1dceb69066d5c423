// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory windows, type 1 and type 2B (IBTA 10.6.7.2).
 *
 * A type 1 window belongs to its PD and is bound again at will; a type 2B one
 * belongs to the QP that bound it, and has to be invalidated first.  A window
 * has no rights of its own on memory: it is bound to an MR, which cannot be
 * deregistered before (mr->windows).
 *
 * The core frees a window right after dealloc_mw, so lookups take their
 * reference under the lock of the table, which protects the bindings too.  Who
 * takes a binding away spins until its holders are gone: they have it for one
 * copy with BH disabled, and wait for nothing meanwhile.
 */
#include <linux/err.h>
#include <linux/random.h>
#include <linux/xarray.h>

#include "rxe_access.h"
#include "rxe_device.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_pd.h"
#include "rxe_qp.h"
#include "rxe_wqe.h"

#define RXE_MW_ACCESS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |	\
			 IB_ACCESS_REMOTE_ATOMIC | IB_ZERO_BASED)

static bool mw_is_type1(const struct rxe_mw *mw)
{
	return mw->ibmw.type == IB_MW_TYPE_1;
}

static u32 mw_key(const struct rxe_mw *mw)
{
	return mw->index << RXE_KEY_INDEX_SHIFT | mw->variant;
}

int rxe_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibmw->device);
	struct rxe_mw *mw = to_rmw(ibmw);
	int err;

	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2)
		return -EINVAL;
	if (!rxe_limit_get(&rxe->num_mw, RXE_MAX_MW))
		return -ENOMEM;

	refcount_set(&mw->ref, 1);
	init_completion(&mw->freed);
	mw->variant = get_random_u8();
	err = xa_alloc_cyclic_bh(&rxe->mws, &mw->index, mw,
				 XA_LIMIT(RXE_MW_INDEX_MIN, RXE_KEY_INDEX_MAX), &rxe->mw_next,
				 GFP_KERNEL);
	if (err < 0) {
		rxe_limit_put(&rxe->num_mw);
		return err == -EBUSY ? -ENOMEM : err;
	}
	ibmw->rkey = mw_key(mw);
	return 0;
}

void rxe_mw_put(struct rxe_mw *mw)
{
	if (refcount_dec_and_test(&mw->ref))
		complete(&mw->freed);
}

/*
 * Take the lock, and find the window at the place of a key as soon as nobody
 * is ending its binding.  Until the lock is dropped it cannot go.
 */
static struct rxe_mw *mw_lock(struct rxe_dev *rxe, u32 key)
	__acquires(&rxe->mws.xa_lock)
{
	struct rxe_mw *mw;

	for (;;) {
		xa_lock_bh(&rxe->mws);
		mw = xa_load(&rxe->mws, rxe_key_index(key));
		if (!mw || !mw->ending)
			return mw;
		xa_unlock_bh(&rxe->mws);
		cpu_relax();
	}
}

static void mw_unlock(struct rxe_dev *rxe)
	__releases(&rxe->mws.xa_lock)
{
	xa_unlock_bh(&rxe->mws);
}

/*
 * Take the binding away and wait for its holders.  The lock is dropped
 * meanwhile; @ending keeps others from binding the window and from freeing it.
 */
static void mw_unbind(struct rxe_dev *rxe, struct rxe_mw *mw)
	__must_hold(&rxe->mws.xa_lock)
{
	struct rxe_mr *mr = mw->mr;
	struct rxe_qp *qp = mw->qp;

	if (!mr)
		return;
	mw->mr = NULL;
	mw->qp = NULL;
	mw->ending = true;
	mw_unlock(rxe);

	while (refcount_read(&mw->ref) > 1)
		cpu_relax();
	smp_mb();	/* what they have copied comes before what follows */
	rxe_mr_put_window(mr);

	xa_lock_bh(&rxe->mws);
	if (qp)
		atomic_dec(&qp->windows);
	mw->ending = false;
}

int rxe_dealloc_mw(struct ib_mw *ibmw)
{
	struct rxe_dev *rxe = to_rdev(ibmw->device);
	struct rxe_mw *mw = to_rmw(ibmw);

	mw_lock(rxe, mw_key(mw));
	mw_unbind(rxe, mw);
	__xa_erase(&rxe->mws, mw->index);
	mw_unlock(rxe);

	rxe_mw_put(mw);
	wait_for_completion(&mw->freed);
	rxe_limit_put(&rxe->num_mw);
	return 0;
}

static bool mw_is_of(const struct rxe_mw *mw, const struct rxe_qp *qp)
{
	return mw->ibmw.pd == &qp->pd->ibpd && (mw_is_type1(mw) || !mw->mr || mw->qp == qp);
}

static int mw_check_access(const struct rxe_mw *mw, const struct rxe_qp *qp, u32 key, int access,
			   u64 va, u64 len)
{
	u64 start = mw->access & IB_ZERO_BASED ? 0 : mw->va;

	if (!mw->mr || mw_key(mw) != key || !mw_is_of(mw, qp))
		return -EINVAL;
	if (access & ~mw->access)
		return -EACCES;
	return rxe_range_ok(start, mw->length, va, len) ? 0 : -ERANGE;
}

int rxe_mw_get(struct rxe_qp *qp, u32 key, int access, u64 va, u64 len, struct rxe_mem *mem)
{
	struct rxe_dev *rxe = qp->rxe;
	struct rxe_mw *mw;
	int err = -EINVAL;

	xa_lock_bh(&rxe->mws);
	mw = xa_load(&rxe->mws, rxe_key_index(key));
	if (mw)
		err = mw_check_access(mw, qp, key, access, va, len);
	if (!err) {
		bool zero_based = mw->access & IB_ZERO_BASED;

		refcount_inc(&mw->ref);
		mem->mr = mw->mr;
		mem->mw = mw;
		mem->start = zero_based ? 0 : mw->va;
		mem->size = mw->length;
		mem->delta = zero_based ? mw->va : 0;
	}
	xa_unlock_bh(&rxe->mws);
	return err;
}

/* May this QP invalidate the window with this key? */
static int mw_check_invalidate(const struct rxe_mw *mw, const struct rxe_qp *qp, u32 key,
			       bool remote)
{
	if (mw_key(mw) != key || !mw_is_of(mw, qp))
		return -EINVAL;
	/* type 1 is unbound by another bind (o10-37.2.26) */
	return mw_is_type1(mw) || (remote && !mw->mr) ? -EACCES : 0;
}

bool rxe_mw_may_invalidate(struct rxe_qp *qp, u32 key)
{
	struct rxe_mw *mw = mw_lock(qp->rxe, key);
	bool may = mw && !mw_check_invalidate(mw, qp, key, true);

	mw_unlock(qp->rxe);
	return may;
}

int rxe_mw_invalidate(struct rxe_qp *qp, u32 key, bool remote)
{
	struct rxe_mw *mw = mw_lock(qp->rxe, key);
	int err = mw ? mw_check_invalidate(mw, qp, key, remote) : -EINVAL;

	if (!err)
		mw_unbind(qp->rxe, mw);
	mw_unlock(qp->rxe);
	return err;
}

static int mw_check_bind(const struct rxe_mw *mw, const struct rxe_qp *qp,
			 const struct rxe_swqe *wqe)
{
	if (mw->ibmw.pd != &qp->pd->ibpd || rxe_key_index(wqe->mw.new_key) != mw->index)
		return -EINVAL;
	/* peers alone use a window, so local rights are void; some ask for them */
	if (wqe->mw.access & ~(RXE_MW_ACCESS | IB_ACCESS_LOCAL_WRITE))
		return -EACCES;
	if (mw_is_type1(mw))
		return wqe->mw.access & IB_ZERO_BASED ? -EACCES : 0;
	if (!wqe->mw.length)
		return -EINVAL;
	return mw->mr ? -EBUSY : 0;
}

static void mw_set(struct rxe_mw *mw, struct rxe_qp *qp, const struct rxe_swqe *wqe,
		   struct rxe_mr *mr)
{
	mw->variant = wqe->mw.new_key;
	mw->mr = mr;
	mw->access = wqe->mw.access & RXE_MW_ACCESS;
	mw->va = wqe->mw.addr;
	mw->length = wqe->mw.length;
	if (mw_is_type1(mw))
		return;
	mw->qp = qp;
	atomic_inc(&qp->windows);
}

/*
 * The MR to bind to, counted as bound: it has to allow windows at all, and
 * local writes if the window lets peers write.
 */
static struct rxe_mr *mw_get_mr(struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	int access = IB_ACCESS_MW_BIND;
	struct rxe_mr *mr;
	bool ok;

	if (wqe->mw.access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC))
		access |= IB_ACCESS_LOCAL_WRITE;
	mr = rxe_mr_get(qp->pd, wqe->mw.lkey, access, wqe->mw.addr, wqe->mw.length);
	if (IS_ERR(mr))
		return mr;
	ok = rxe_mr_get_window(mr);
	rxe_mr_put(mr);
	return ok ? mr : ERR_PTR(-EINVAL);
}

int rxe_mw_bind(struct rxe_qp *qp, const struct rxe_swqe *wqe)
{
	struct rxe_dev *rxe = qp->rxe;
	struct rxe_mr *mr = NULL;
	struct rxe_mw *mw;
	int err = -EINVAL;

	if (wqe->mw.length) {
		mr = mw_get_mr(qp, wqe);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
	}

	mw = mw_lock(rxe, wqe->mw.key);
	if (mw)
		err = mw_check_bind(mw, qp, wqe);
	/* type 1 windows have no place in zero-based MRs (C10-75) */
	if (!err && mr && mw_is_type1(mw) && (mr->access & IB_ZERO_BASED))
		err = -EACCES;
	if (!err) {
		mw_unbind(rxe, mw);
		mw_set(mw, qp, wqe, mr);
	}
	mw_unlock(rxe);

	if (err && mr)
		rxe_mr_put_window(mr);
	return err;
}

void rxe_mw_unbind_qp(struct rxe_qp *qp)
{
	struct rxe_dev *rxe = qp->rxe;
	unsigned long index = RXE_MW_INDEX_MIN;
	struct rxe_mw *mw;

	while (atomic_read(&qp->windows)) {
		xa_lock_bh(&rxe->mws);
		mw = xa_find(&rxe->mws, &index, RXE_KEY_INDEX_MAX, XA_PRESENT);
		if (mw && mw->qp == qp)
			mw_unbind(rxe, mw);
		xa_unlock_bh(&rxe->mws);
		/* one that is just being unbound by its owner is counted to the end */
		index = mw ? index + 1 : RXE_MW_INDEX_MIN;
		cond_resched();
	}
}
