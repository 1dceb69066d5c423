// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * On-demand paging: a mirror of a process's page table, and faults.
 *
 * The mirror is the driver's own and not an ib_umem_odp: that one is protected
 * by a mutex, which a softirq cannot take, so each packet would have to go
 * through a work item.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hmm.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "rxe_access.h"
#include "rxe_alloc.h"
#include "rxe_mr.h"
#include "rxe_mw.h"
#include "rxe_odp.h"
#include "rxe_pd.h"

/* What odp_fault() is to do. */
#define RXE_ODP_LOOK	0UL		/* take what the process has */
#define RXE_ODP_READ	HMM_PFN_REQ_FAULT
#define RXE_ODP_WRITE	(HMM_PFN_REQ_FAULT | HMM_PFN_REQ_WRITE)

/* Pages that are faulted in, or taken out, in one go. */
#define RXE_ODP_BATCH	32

static struct rxe_odp *to_odp(struct mmu_interval_notifier *notifier)
{
	return container_of(notifier, struct rxe_odp, notifier);
}

static bool odp_has(unsigned long page, bool write)
{
	return (page & HMM_PFN_VALID) && (!write || (page & HMM_PFN_WRITE));
}

static u64 odp_start(const struct rxe_odp *odp)
{
	return odp->notifier.interval_tree.start;
}

/* A page in the mirror is still mapped by the process, so it has a reference. */
static void odp_get_written(const unsigned long *pages, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (odp_has(pages[i], true))
			get_page(hmm_pfn_to_page(pages[i]));
}

static void odp_dirty_and_put(const unsigned long *pages, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (!odp_has(pages[i], true))
			continue;
		set_page_dirty(hmm_pfn_to_page(pages[i]));
		put_page(hmm_pfn_to_page(pages[i]));
	}
}

/* Take pages [i, end) out of the mirror. */
static void odp_drop(struct rxe_odp *odp, u64 i, u64 end, bool may_sleep)
{
	unsigned long pages[RXE_ODP_BATCH];
	unsigned int n;

	for (; i < end; i += n) {
		n = min_t(u64, end - i, RXE_ODP_BATCH);
		write_lock_bh(&odp->lock);
		memcpy(pages, odp->pages + i, n * sizeof(*pages));
		memset(odp->pages + i, 0, n * sizeof(*pages));
		if (may_sleep)
			odp_get_written(pages, n);
		write_unlock_bh(&odp->lock);
		/*
		 * What may not sleep is the OOM reaper, and the memory of a
		 * process that is being killed need not be kept.
		 */
		if (may_sleep)
			odp_dirty_and_put(pages, n);
	}
}

static bool rxe_odp_invalidate(struct mmu_interval_notifier *notifier,
			       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct rxe_odp *odp = to_odp(notifier);
	u64 start = max_t(u64, range->start, odp_start(odp)) - odp_start(odp);
	u64 end = min_t(u64, range->end - odp_start(odp), odp->nr_pages << PAGE_SHIFT);

	/* From here on no fault can put a page in: see odp_fault_batch(). */
	write_lock_bh(&odp->lock);
	mmu_interval_set_seq(notifier, seq);
	write_unlock_bh(&odp->lock);

	odp_drop(odp, start >> PAGE_SHIFT, DIV_ROUND_UP(end, PAGE_SIZE),
		 mmu_notifier_range_blockable(range));
	return true;
}

static const struct mmu_interval_notifier_ops rxe_odp_notifier_ops = {
	.invalidate = rxe_odp_invalidate,
};

struct rxe_odp *rxe_odp_create(u64 start, u64 length)
{
	u64 first = ALIGN_DOWN(start, PAGE_SIZE);
	struct rxe_odp *odp;
	int err = -ENOMEM;

	odp = kzalloc_obj(*odp, RXE_GFP_USER);
	if (!odp)
		return ERR_PTR(-ENOMEM);
	rwlock_init(&odp->lock);
	odp->offset = start - first;
	odp->nr_pages = DIV_ROUND_UP(odp->offset + length, PAGE_SIZE);
	odp->pages = rxe_user_array(odp->nr_pages, sizeof(*odp->pages));
	if (!odp->pages)
		goto err_free;

	err = mmu_interval_notifier_insert(&odp->notifier, current->mm, first,
					   odp->nr_pages << PAGE_SHIFT, &rxe_odp_notifier_ops);
	if (err)
		goto err_pages;
	return odp;

err_pages:
	kvfree(odp->pages);
err_free:
	kfree(odp);
	return ERR_PTR(err);
}

void rxe_odp_destroy(struct rxe_odp *odp)
{
	if (!odp)
		return;
	odp_drop(odp, 0, odp->nr_pages, true);
	mmu_interval_notifier_remove(&odp->notifier);
	kvfree(odp->pages);
	kfree(odp);
}

void *rxe_odp_ptr(const struct rxe_odp *odp, u64 off, bool write)
{
	unsigned long page;

	lockdep_assert_held_read(&odp->lock);

	off += odp->offset;
	page = odp->pages[off >> PAGE_SHIFT];
	if (!odp_has(page, write))
		return NULL;
	return page_address(hmm_pfn_to_page(page)) + offset_in_page(off);
}

/*
 * An executor must not wait for the lock of the process's memory: a thread that
 * maps a ring may hold it, and wait for the device, which waits for the executor.
 */
static int odp_mmap_lock(struct mm_struct *mm, bool wait)
{
	if (wait)
		mmap_read_lock(mm);
	else if (!mmap_read_trylock(mm))
		return -EBUSY;
	return 0;
}

/* Return: -EAGAIN: the process changed its memory meanwhile; -EBUSY: locked, and not @wait. */
static int odp_fault_try(struct rxe_odp *odp, u64 first, unsigned int n, unsigned long req,
			 bool wait)
{
	unsigned long pages[RXE_ODP_BATCH];
	struct hmm_range range = {
		.notifier	= &odp->notifier,
		.start		= odp_start(odp) + (first << PAGE_SHIFT),
		.end		= odp_start(odp) + ((first + n) << PAGE_SHIFT),
		.hmm_pfns	= pages,
		.default_flags	= req,
	};
	struct mm_struct *mm = odp->notifier.mm;
	int err;

	range.notifier_seq = mmu_interval_read_begin(&odp->notifier);
	err = odp_mmap_lock(mm, wait);
	if (err)
		return err;
	err = hmm_range_fault(&range);
	mmap_read_unlock(mm);
	if (err)
		return err == -EBUSY ? -EAGAIN : err;

	write_lock_bh(&odp->lock);
	if (mmu_interval_read_retry(&odp->notifier, range.notifier_seq))
		err = -EAGAIN;
	else
		memcpy(odp->pages + first, pages, n * sizeof(*pages));
	write_unlock_bh(&odp->lock);
	return err;
}

static int odp_fault_batch(struct rxe_odp *odp, u64 first, unsigned int n, unsigned long req,
			   bool wait)
{
	int err;

	do {
		cond_resched();
		err = odp_fault_try(odp, first, n, req, wait);
	} while (err == -EAGAIN);
	return err && err != -ENOMEM && err != -EBUSY ? -EFAULT : err;
}

/*
 * Bring pages into the mirror; one may be gone again when this returns.
 * Return: 0; -EFAULT: the process is gone, or has nothing there that allows
 * this; -ENOMEM; -EBUSY: see odp_mmap_lock().
 */
static int odp_fault(struct rxe_odp *odp, u64 off, u64 len, unsigned long req, bool wait)
{
	struct mm_struct *mm = odp->notifier.mm;
	u64 i = (odp->offset + off) >> PAGE_SHIFT;
	u64 end = DIV_ROUND_UP(odp->offset + off + len, PAGE_SIZE);
	unsigned int n;
	int err = 0;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	for (; i < end && !err; i += n) {
		n = min_t(u64, end - i, RXE_ODP_BATCH);
		err = odp_fault_batch(odp, i, n, req, wait);
	}
	mmput(mm);
	return err;
}

/* Bytes that are faulted in beyond those that are needed now. */
#define RXE_FAULT_AHEAD		SZ_256K

int rxe_fault_wait(struct rxe_fault *f, struct rxe_pd *pd, u32 key, u64 va, u32 len, bool write)
{
	int err = f->err;

	f->err = 0;
	if (err && f->pd == pd && f->key == key && f->va == va && f->write == write)
		return err;

	f->waiting = true;
	f->pd = pd;
	f->key = key;
	f->va = va;
	f->len = len;
	f->write = write;
	return -EAGAIN;
}

void rxe_fault_handle(struct rxe_fault *f)
{
	unsigned long req = f->write ? RXE_ODP_WRITE : RXE_ODP_READ;
	struct rxe_mr *mr;
	u64 off, ahead;

	if (!f->waiting)
		return;
	f->waiting = false;
	mr = rxe_mr_get(f->pd, f->key, 0, f->va, f->len);
	if (IS_ERR(mr))
		return;		/* the executor will find that out */
	if (mr->odp) {
		off = f->va - mr->iova;
		f->err = odp_fault(mr->odp, off, f->len, req, false);
		if (f->err == -EBUSY) {		/* the executor comes again */
			f->err = 0;
			usleep_range(50, 200);
			goto put;
		}
		off += f->len;
		ahead = min_t(u64, mr->length - off, RXE_FAULT_AHEAD);
		if (!f->err && ahead)
			odp_fault(mr->odp, off, ahead, req, false);
	}
put:
	rxe_mr_put(mr);
}

static int advise_sge(struct rxe_pd *pd, const struct ib_sge *sge, unsigned long req)
{
	int access = req == RXE_ODP_WRITE ? IB_ACCESS_LOCAL_WRITE : 0;
	struct rxe_mr *mr;
	int err = -EINVAL;

	mr = rxe_mr_get(pd, sge->lkey, access, sge->addr, sge->length);
	switch (PTR_ERR_OR_ZERO(mr)) {
	case 0:
		break;
	case -ERANGE:
		return -EFAULT;
	case -EACCES:
	case -EPERM:
		return -EPERM;
	default:
		return rxe_key_is_mw(sge->lkey) ? -EINVAL : -ENOENT;
	}
	if (mr->odp)
		err = odp_fault(mr->odp, sge->addr - mr->iova, sge->length, req, true);
	rxe_mr_put(mr);
	return err;
}

/**
 * rxe_advise_mr - prefetch pages of MRs for on-demand paging
 * @ibpd:	PD of the MRs
 * @advice:	IB_UVERBS_ADVISE_MR_ADVICE_*
 * @flags:	IB_UVERBS_ADVISE_MR_FLAG_FLUSH or 0; it is always done on return
 * @sg_list:	ranges
 * @num_sge:	their number
 * @attrs:	not used
 *
 * See ibv_advise_mr(3).
 *
 * Context: process, sleeps.
 * Return: 0; -EOPNOTSUPP unknown advice; -EINVAL not an on-demand MR, or the key
 * of a window; -ENOENT no such key; -EPERM it is of another PD, or rights
 * missing; -EFAULT the range is not in the MR, or nothing is mapped there.
 */
int rxe_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs)
{
	unsigned long req;
	u32 i;
	int err;

	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		req = RXE_ODP_READ;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		req = RXE_ODP_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		req = RXE_ODP_LOOK;
		break;
	default:
		return -EOPNOTSUPP;
	}

	for (i = 0; i < num_sge; i++) {
		if (!sg_list[i].length)
			continue;
		err = advise_sge(to_rpd(ibpd), &sg_list[i], req);
		if (err)
			return err;
	}
	return 0;
}
