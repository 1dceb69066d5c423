/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * On-demand paging: memory of a process that is not pinned.
 *
 * The kernel's own copy of the page table (the mirror) tells which pages can
 * be touched now.  A notifier takes pages out of it before the process loses
 * them, and waits for copies that are under way.  Executors touch the pages
 * that are there, in any context; for one that is not, they stop, and their
 * work item faults it in, since a fault sleeps.
 */
#ifndef RXE_ODP_H
#define RXE_ODP_H

#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct rxe_pd;
struct uverbs_attr_bundle;

/**
 * struct rxe_odp - mirror of a range of a process's memory
 * @notifier:	tells of changes; its mm outlives it, the process may not
 * @lock:	protects @pages; readers copy under it; a leaf, BH disabled
 * @offset:	of the first byte in the first page
 * @nr_pages:	length of @pages
 * @pages:	HMM_PFN_* of each page, 0: not there
 */
struct rxe_odp {
	struct mmu_interval_notifier	notifier;
	rwlock_t			lock;		/* see above */
	unsigned int			offset;
	u64				nr_pages;
	unsigned long			*pages;
};

/**
 * rxe_odp_create - mirror a range of the caller's memory
 * @start:	user address
 * @length:	bytes, not 0; the range does not wrap
 *
 * The range need not be mapped, now or ever.
 *
 * Context: process, may sleep.
 * Return: the mirror, with no page in it, or ERR_PTR(-ENOMEM).
 */
struct rxe_odp *rxe_odp_create(u64 start, u64 length);

/* Undo it; nobody copies any more.  NULL is fine.  Context: process, sleeps. */
void rxe_odp_destroy(struct rxe_odp *odp);

/*
 * Pages stay where they are between these two.  Whoever copies needs them for
 * some MRs only, which sparse cannot follow: it is told that nothing is held.
 *
 * Context: BH disabled.
 */
static inline void rxe_odp_lock(struct rxe_odp *odp)
{
	read_lock(&odp->lock);
	__release(&odp->lock);
}

static inline void rxe_odp_unlock(struct rxe_odp *odp)
{
	__acquire(&odp->lock);
	read_unlock(&odp->lock);
}

/**
 * rxe_odp_ptr - kernel address of a byte
 * @odp:	mirror
 * @off:	of the byte in the range, checked by the caller
 * @write:	it will be written
 *
 * Context: between rxe_odp_lock() and rxe_odp_unlock().
 * Return: the address, with the bytes up to the end of the page behind it;
 * NULL when the page must be faulted in first.
 */
void *rxe_odp_ptr(const struct rxe_odp *odp, u64 off, bool write);

/**
 * struct rxe_fault - what an executor waits for
 * @waiting:	rxe_fault_handle() has not been called yet
 * @write:	for writing
 * @pd:		PD of the key, alive as long as the executor's QP
 * @key:	lkey or rkey
 * @va:		first byte
 * @len:	bytes
 * @err:	what became of it, until the executor comes by again
 *
 * Owned by the executor.  Holds no reference: while the executor waits, the
 * key may go.
 */
struct rxe_fault {
	bool		waiting;
	bool		write;
	struct rxe_pd	*pd;
	u32		key;
	u64		va;
	u32		len;
	int		err;
};

/**
 * rxe_fault_wait - a copy found no page
 * @f:		the executor's
 * @pd:		PD of the key
 * @key:	key
 * @va:		first byte of the copy
 * @len:	its bytes, not 0
 * @write:	it writes
 *
 * Return: -EAGAIN: stop, and return to the same copy later; or the error of the
 * fault that has already been tried for it.
 */
int rxe_fault_wait(struct rxe_fault *f, struct rxe_pd *pd, u32 key, u64 va, u32 len, bool write);

/* Fault in what @f waits for, if anything.  Context: process, sleeps. */
void rxe_fault_handle(struct rxe_fault *f);

/* ib_device_ops */
int rxe_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		  struct ib_sge *sg_list, u32 num_sge, struct uverbs_attr_bundle *attrs);

#endif /* RXE_ODP_H */
