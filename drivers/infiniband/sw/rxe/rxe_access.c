// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* May this key touch these bytes?  The one place that decides. */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include "rxe_access.h"
#include "rxe_device.h"
#include "rxe_fastreg.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_pd.h"
#include "rxe_qp.h"
#include "rxe_stats.h"
#include "rxe_trace.h"

/*
 * A PD's MRs are out of reach of the QPs of all other PDs: that is what keeps
 * users away from RXE_MR_DMA, which only PDs of the kernel have.
 */
int rxe_mr_check(const struct rxe_mr *mr, const struct rxe_pd *pd, u32 key, int access,
		 u64 va, u64 len)
{
	unsigned int seq;
	int err;

	do {
		seq = read_seqcount_begin(&mr->seq);
		if (!mr->valid || rxe_mr_key(mr) != key)
			err = -EINVAL;
		else if (mr->pd != pd)
			err = -EPERM;
		else if (access & ~mr->access)
			err = -EACCES;
		else if (!rxe_range_ok(mr->iova, mr->length, va, len))
			err = -ERANGE;
		else
			err = 0;
	} while (read_seqcount_retry(&mr->seq, seq));
	return err;
}

/*
 * Who invalidates sets @valid to false first and looks at the references then;
 * we do it the other way round.
 */
static int get_checked_mr(struct rxe_mr *mr, const struct rxe_pd *pd, u32 key, int access,
			  u64 va, u64 len)
{
	int err = rxe_mr_check(mr, pd, key, access, va, len);

	if (err)
		return err;
	if (!refcount_inc_not_zero(&mr->ref))
		return -EINVAL;
	if (mr->type != RXE_MR_FAST)
		return 0;
	smp_mb__after_atomic();		/* pairs with rxe_fast_invalidate() */
	err = rxe_mr_check(mr, pd, key, access, va, len);
	if (err)
		rxe_mr_put(mr);
	return err;
}

struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va, u64 len)
{
	struct rxe_dev *rxe = to_rdev(pd->ibpd.device);
	struct rxe_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = xa_load(&rxe->mrs, rxe_key_index(key));
	if (mr)
		err = get_checked_mr(mr, pd, key, access, va, len);
	rcu_read_unlock();
	return err ? ERR_PTR(err) : mr;
}

int rxe_mem_get(struct rxe_qp *qp, u32 key, int access, u64 va, u64 len, struct rxe_mem *mem)
{
	struct rxe_mr *mr;

	*mem = (struct rxe_mem){};
	if (rxe_key_is_mw(key))
		return rxe_mw_get(qp, key, access, va, len, mem);

	mr = rxe_mr_get(qp->pd, key, access, va, len);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mem->mr = mr;
	mem->start = mr->iova;
	mem->size = mr->length;
	return 0;
}

int rxe_mem_get_whole(struct rxe_qp *qp, u32 key, int access, struct rxe_mem *mem)
{
	struct rxe_mr *mr;
	u64 start = 0;

	rcu_read_lock();
	mr = xa_load(&qp->rxe->mrs, rxe_key_index(key));
	if (mr)
		start = READ_ONCE(mr->iova);
	rcu_read_unlock();
	return rxe_mem_get(qp, key, access, start, 0, mem);
}

void rxe_access_refused(const struct rxe_qp *qp, bool remote, u32 key, u64 va, u64 len, int err)
{
	if (!remote)
		rxe_count(qp->rxe, RXE_CNT_LOCAL_ACCESS);
	trace_rxe_access_err(dev_name(&qp->rxe->ibdev.dev), qp->qpn, remote, key, va, len, err);
}

void rxe_mem_put(struct rxe_mem *mem)
{
	if (mem->mw)
		rxe_mw_put(mem->mw);
	else if (mem->mr)
		rxe_mr_put(mem->mr);
	*mem = (struct rxe_mem){};
}

bool rxe_mem_is_transient(const struct rxe_mem *mem)
{
	return mem->mw || (mem->mr && rxe_mr_is_transient(mem->mr));
}

bool rxe_key_may_invalidate(struct rxe_qp *qp, u32 key)
{
	if (rxe_key_is_mw(key))
		return rxe_mw_may_invalidate(qp, key);
	return rxe_fast_may_invalidate(qp, key);
}

int rxe_key_invalidate(struct rxe_qp *qp, u32 key, bool remote)
{
	if (rxe_key_is_mw(key))
		return rxe_mw_invalidate(qp, key, remote);
	return rxe_fast_invalidate(qp, key, remote);
}
