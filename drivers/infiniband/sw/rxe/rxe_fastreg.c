// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fast-registration MRs of kernel users.
 *
 * Free: the user fills the list of pages (rxe_map_mr_sg()), no lookup finds
 * the MR.  REG_MR makes it valid with a new key, an invalidation makes it free
 * again.  Both run in executors, possibly of several QPs: mr->lock serialises
 * them, mr->seq lets lookups see all of a change or nothing.
 *
 * An invalidation has to be over when its completion is seen, and cannot
 * sleep: it spins until the holders are gone.  They hold such an MR for one
 * copy with BH disabled, and wait for nothing meanwhile (rxe_mem_is_transient()).
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/xarray.h>

#include "rxe_device.h"
#include "rxe_fastreg.h"
#include "rxe_mr.h"
#include "rxe_pd.h"
#include "rxe_qp.h"

#define RXE_FAST_ACCESS	(IB_ACCESS_LOCAL_WRITE | RXE_ACCESS_REMOTE | IB_ACCESS_OPTIONAL)

struct ib_mr *rxe_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > RXE_MAX_FAST_REG_PAGES)
		return ERR_PTR(-EINVAL);
	return rxe_mr_create_fast(ibpd, max_num_sg);
}

static int fast_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct rxe_mr *mr = to_rmr(ibmr);

	if (mr->nr_blocks == mr->max_blocks)
		return -ENOMEM;
	mr->blocks[mr->nr_blocks++] = ib_virt_dma_to_ptr(addr);
	return 0;
}

int rxe_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int num, unsigned int *offset)
{
	struct rxe_mr *mr = to_rmr(ibmr);
	int n;

	mr->nr_blocks = 0;
	n = ib_sg_to_pages(ibmr, sg, num, offset, fast_set_page);
	mr->block_shift = ilog2(ibmr->page_size);
	mr->first_offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

int rxe_fast_register(struct rxe_qp *qp, struct ib_mr *ibmr, u32 key, int access)
{
	struct rxe_mr *mr = to_rmr(ibmr);
	int err = 0;

	if (mr->type != RXE_MR_FAST || mr->pd != qp->pd || rxe_key_index(key) != mr->index)
		return -EINVAL;
	if (access & ~RXE_FAST_ACCESS)
		return -EACCES;

	spin_lock(&mr->lock);
	if (mr->valid) {
		err = -EBUSY;
	} else {
		write_seqcount_begin(&mr->seq);
		mr->variant = key;
		mr->access = access;
		mr->iova = ibmr->iova;
		mr->length = ibmr->length;
		mr->valid = true;
		write_seqcount_end(&mr->seq);
	}
	spin_unlock(&mr->lock);
	return err;
}

/* The fast-registration MR of a key, valid or not.  Context: RCU. */
static struct rxe_mr *fast_find(struct rxe_qp *qp, u32 key)
{
	struct rxe_mr *mr = xa_load(&qp->rxe->mrs, rxe_key_index(key));

	if (!mr || mr->type != RXE_MR_FAST || mr->pd != qp->pd)
		return NULL;
	return mr;
}

/* Is it valid, with this key and remote rights? */
static bool fast_is_remote(const struct rxe_mr *mr, u32 key)
{
	lockdep_assert_held(&mr->lock);
	return mr->valid && rxe_mr_key(mr) == key && (mr->access & RXE_ACCESS_REMOTE);
}

bool rxe_fast_may_invalidate(struct rxe_qp *qp, u32 key)
{
	struct rxe_mr *mr;
	bool may = false;

	rcu_read_lock();
	mr = fast_find(qp, key);
	if (mr) {
		spin_lock(&mr->lock);
		may = fast_is_remote(mr, key);
		spin_unlock(&mr->lock);
	}
	rcu_read_unlock();
	return may;
}

int rxe_fast_invalidate(struct rxe_qp *qp, u32 key, bool remote)
{
	struct rxe_mr *mr;
	int err = -EINVAL;

	rcu_read_lock();
	mr = fast_find(qp, key);
	if (!mr)
		goto unlock;

	spin_lock(&mr->lock);
	if (rxe_mr_key(mr) != key)
		err = -EINVAL;
	else if (remote && !fast_is_remote(mr, key))
		err = -EACCES;
	else
		err = 0;
	if (!err && mr->valid) {
		write_seqcount_begin(&mr->seq);
		mr->valid = false;
		write_seqcount_end(&mr->seq);
	}
	spin_unlock(&mr->lock);

	smp_mb();	/* pairs with get_checked_mr() */
	while (!err && refcount_read(&mr->ref) > 1)
		cpu_relax();
unlock:
	rcu_read_unlock();
	return err;
}
