// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* May this key touch these bytes?  The one place that decides. */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include "rxe_access.h"
#include "rxe_device.h"
#include "rxe_mr.h"
#include "rxe_pd.h"

/*
 * A PD's MRs are out of reach of the QPs of all other PDs: that is what keeps
 * users away from RXE_MR_DMA, which only PDs of the kernel have.
 */
static int check_access(const struct rxe_mr *mr, const struct rxe_pd *pd, u32 key, int access,
			u64 va, u64 len)
{
	if (rxe_mr_key(mr) != key || READ_ONCE(mr->ibmr.pd) != &pd->ibpd)
		return -EINVAL;
	if (access & ~mr->access)
		return -EACCES;
	if (!rxe_range_ok(mr->iova, mr->length, va, len))
		return -ERANGE;
	return 0;
}

struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va, u64 len)
{
	struct rxe_dev *rxe = to_rdev(pd->ibpd.device);
	struct rxe_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = xa_load(&rxe->mrs, rxe_key_index(key));
	if (mr) {
		err = check_access(mr, pd, key, access, va, len);
		if (!err && !refcount_inc_not_zero(&mr->ref))
			err = -EINVAL;
	}
	rcu_read_unlock();
	return err ? ERR_PTR(err) : mr;
}
