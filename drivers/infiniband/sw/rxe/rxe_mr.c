// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions.
 *
 * An MR enters the table complete.  dereg_mr takes it out, waits for the
 * holders (rxe_mr_get()), each of which keeps it for one run of an executor at
 * the most, and only then gives the memory back.  Where the memory is never
 * changes, except for MRs of rxe_fastreg.c while they are not valid.
 *
 * The device has no DMA device, so the DMA addresses of the core are kernel
 * virtual addresses, and physically contiguous memory is contiguous there too.
 *
 * Memory that is paged in on demand is in rxe_odp.c, that of other drivers in
 * rxe_dmabuf.c.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iter.h>

#include "rxe_alloc.h"
#include "rxe_device.h"
#include "rxe_dmabuf.h"
#include "rxe_flush.h"
#include "rxe_limits.h"
#include "rxe_mr.h"
#include "rxe_odp.h"
#include "rxe_pd.h"

/* Rights and hints that mean something here or can be ignored. */
#define RXE_MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | RXE_ACCESS_REMOTE |		\
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT |	\
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB | \
			 IB_ACCESS_ON_DEMAND | IB_ACCESS_OPTIONAL)

/* Shift of a block that holds all there is; offsets have fewer bits. */
#define RXE_MR_ONE_BLOCK	62

/* Index 0 stays empty, so no key is 0. */
#define RXE_KEY_LIMIT	XA_LIMIT(1, RXE_MW_INDEX_MIN - 1)

/*
 * Publish a complete MR.  xa_alloc_cyclic_bh() writes mr->index before lookups
 * can see the MR; indices come again after 2^23 registrations only.  The lock
 * of the table is taken in process context alone: lookups need none.
 */
static int mr_publish(struct rxe_dev *rxe, struct rxe_mr *mr)
{
	int err;

	refcount_set(&mr->ref, 1);
	init_completion(&mr->freed);
	mr->variant = get_random_u8();
	err = xa_alloc_cyclic_bh(&rxe->mrs, &mr->index, mr, RXE_KEY_LIMIT, &rxe->mr_next,
				 GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOMEM : err;
	mr->ibmr.lkey = rxe_mr_key(mr);
	mr->ibmr.rkey = rxe_mr_key(mr);
	return 0;
}

static struct rxe_mr *mr_alloc(struct ib_pd *ibpd, enum rxe_mr_type type, int access)
{
	struct rxe_dev *rxe = to_rdev(ibpd->device);
	struct rxe_mr *mr;

	if (!rxe_limit_get(&rxe->num_mr, RXE_MAX_MR))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc_obj(*mr, RXE_GFP_USER);
	if (!mr) {
		rxe_limit_put(&rxe->num_mr);
		return ERR_PTR(-ENOMEM);
	}
	/* The core sets these too, but only after the MR can be found. */
	mr->ibmr.device = ibpd->device;
	mr->ibmr.pd = ibpd;
	mr->type = type;
	spin_lock_init(&mr->lock);
	seqcount_spinlock_init(&mr->seq, &mr->lock);
	mr->valid = type != RXE_MR_FAST;
	mr->pd = to_rpd(ibpd);
	mr->access = access;
	return mr;
}

/* Undo mr_alloc() of an MR that was never published. */
static void mr_free(struct rxe_mr *mr)
{
	rxe_limit_put(&to_rdev(mr->ibmr.device)->num_mr);
	kfree(mr);
}

/* Most MRs are one block, by size or thanks to huge pages: no array for them. */
static int mr_alloc_blocks(struct rxe_mr *mr)
{
	if (mr->nr_blocks == 1) {
		mr->blocks = &mr->block;
		return 0;
	}
	mr->blocks = rxe_user_array(mr->nr_blocks, sizeof(*mr->blocks));
	return mr->blocks ? 0 : -ENOMEM;
}

static void mr_free_blocks(struct rxe_mr *mr)
{
	if (mr->blocks != &mr->block)
		kvfree(mr->blocks);
}

/*
 * Blocks are aligned in the user's address space and in the kernel's, so
 * @start decides about their size; @iova may be anything.
 */
static int mr_map(struct rxe_mr *mr, u64 start)
{
	struct ib_umem *umem = mr->umem;
	struct ib_block_iter biter;
	unsigned long size;
	u64 i = 0;
	int err;

	size = ib_umem_find_best_pgsz(umem, GENMASK(30, PAGE_SHIFT), start);
	if (!size)
		return -EINVAL;
	mr->block_shift = __ffs(size);
	mr->first_offset = start & (size - 1);
	mr->nr_blocks = ib_umem_num_dma_blocks(umem, size);
	err = mr_alloc_blocks(mr);
	if (err)
		return err;

	rdma_umem_for_each_dma_block(umem, &biter, size) {
		if (WARN_ON_ONCE(i == mr->nr_blocks))
			break;
		mr->blocks[i++] = ib_virt_dma_to_ptr(rdma_block_iter_dma_address(&biter));
		if (i % 4096 == 0)
			cond_resched();
	}
	if (WARN_ON_ONCE(i != mr->nr_blocks)) {
		mr_free_blocks(mr);
		return -EINVAL;
	}
	return 0;
}

static int check_reg(u64 start, u64 length, u64 iova, int access, struct ib_dmah *dmah)
{
	if (dmah || access & ~RXE_MR_ACCESS)
		return -EOPNOTSUPP;
	if ((access & IB_ACCESS_ON_DEMAND) && !start && length == U64_MAX)
		return -EOPNOTSUPP;	/* all of the address space: implicit */
	if (!length || length > RXE_MAX_MR_SIZE)
		return -EINVAL;
	if (start + length < start || iova + (length - 1) < iova)
		return -EINVAL;
	return 0;
}

static int mr_pin(struct rxe_mr *mr, u64 start)
{
	int err;

	mr->umem = ib_umem_get_va(mr->ibmr.device, start, mr->length, mr->access);
	if (IS_ERR(mr->umem))
		return PTR_ERR(mr->umem);
	err = mr_map(mr, start);
	if (!err && (mr->access & IB_ACCESS_FLUSH_PERSISTENT)) {
		err = rxe_flush_check_mr(mr);
		if (err)
			mr_free_blocks(mr);
	}
	if (err)
		ib_umem_release(mr->umem);
	return err;
}

static int mr_mirror(struct rxe_mr *mr, u64 start)
{
	if (mr->access & IB_ACCESS_FLUSH_PERSISTENT)
		return -EOPNOTSUPP;
	mr->first_offset = offset_in_page(start);
	mr->odp = rxe_odp_create(start, mr->length);
	return PTR_ERR_OR_ZERO(mr->odp);
}

/* Give the memory back. */
static void mr_unmap(struct rxe_mr *mr)
{
	switch (mr->type) {
	case RXE_MR_DMA:
		break;
	case RXE_MR_USER:
		mr_free_blocks(mr);
		ib_umem_release(mr->umem);
		break;
	case RXE_MR_FAST:
		mr_free_blocks(mr);
		break;
	case RXE_MR_ODP:
		rxe_odp_destroy(mr->odp);
		break;
	case RXE_MR_DMABUF:
		rxe_dmabuf_unmap(mr->dmabuf, mr->block);
		break;
	}
}

/* The last step of a registration; undoes all of it when it fails. */
static struct ib_mr *mr_finish(struct rxe_mr *mr)
{
	int err = mr_publish(to_rdev(mr->ibmr.device), mr);

	if (!err)
		return &mr->ibmr;
	mr_unmap(mr);
	mr_free(mr);
	return ERR_PTR(err);
}

/**
 * rxe_reg_user_mr - make user memory accessible through a key
 * @ibpd:	PD
 * @start:	user address of the first byte
 * @length:	bytes, not 0
 * @iova:	address of the first byte for peers and SGEs; with IB_ZERO_BASED
 *		that is 0
 * @access:	IB_ACCESS_*; the memory is pinned, but for IB_ACCESS_ON_DEMAND
 * @dmah:	not supported
 * @udata:	not used
 *
 * Context: process, may sleep.
 * Return: the MR or ERR_PTR(): -EINVAL, -EOPNOTSUPP, -ENOMEM (the memlock
 * limit or the device's limit too), -EPERM, -EFAULT.
 */
struct ib_mr *rxe_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			      struct ib_dmah *dmah, struct ib_udata *udata)
{
	struct rxe_mr *mr;
	int err;

	err = check_reg(start, length, iova, access, dmah);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, access & IB_ACCESS_ON_DEMAND ? RXE_MR_ODP : RXE_MR_USER, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;

	err = mr->type == RXE_MR_ODP ? mr_mirror(mr, start) : mr_pin(mr, start);
	if (err) {
		mr_free(mr);
		return ERR_PTR(err);
	}
	return mr_finish(mr);
}

/**
 * rxe_reg_user_mr_dmabuf - make memory of another driver accessible through a key
 * @ibpd:	PD
 * @offset:	of the first byte in the buffer
 * @length:	bytes, not 0
 * @iova:	address of the first byte for peers and SGEs; with IB_ZERO_BASED
 *		that is 0
 * @fd:		dma-buf; the MR keeps it
 * @access:	IB_ACCESS_*
 * @dmah:	not supported
 * @attrs:	not used
 *
 * Context: process, may sleep.
 * Return: the MR or ERR_PTR(): as rxe_reg_user_mr(); -EOPNOTSUPP for memory
 * that CPUs cannot reach like their own.
 */
struct ib_mr *rxe_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, struct ib_dmah *dmah,
				     struct uverbs_attr_bundle *attrs)
{
	struct rxe_mr *mr;
	int err;

	if (access & (IB_ACCESS_ON_DEMAND | IB_ACCESS_FLUSH_PERSISTENT))
		return ERR_PTR(-EOPNOTSUPP);
	err = check_reg(offset, length, iova, access, dmah);
	if (err)
		return ERR_PTR(err);

	mr = mr_alloc(ibpd, RXE_MR_DMABUF, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	mr->first_offset = offset;
	mr->block_shift = RXE_MR_ONE_BLOCK;
	mr->nr_blocks = 1;
	mr->blocks = &mr->block;

	mr->dmabuf = rxe_dmabuf_map(fd, offset, length, &mr->block);
	if (IS_ERR(mr->dmabuf)) {
		err = PTR_ERR(mr->dmabuf);
		mr_free(mr);
		return ERR_PTR(err);
	}
	return mr_finish(mr);
}

/**
 * rxe_get_dma_mr - all of kernel memory, for a PD of a kernel user
 * @ibpd:	PD
 * @access:	IB_ACCESS_*; remote rights only with IB_PD_UNSAFE_GLOBAL_RKEY
 *
 * Context: process, may sleep.
 * Return: the MR or ERR_PTR(): -EOPNOTSUPP, -ENOMEM.
 */
struct ib_mr *rxe_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct rxe_mr *mr;

	if (access & ~RXE_MR_ACCESS || access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	mr = mr_alloc(ibpd, RXE_MR_DMA, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->length = U64_MAX;
	return mr_finish(mr);
}

struct ib_mr *rxe_mr_create_fast(struct ib_pd *ibpd, u32 max_blocks)
{
	struct rxe_mr *mr = mr_alloc(ibpd, RXE_MR_FAST, 0);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->max_blocks = max_blocks;
	mr->blocks = kvmalloc_array(max_blocks, sizeof(*mr->blocks), GFP_KERNEL);
	if (!mr->blocks) {
		mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	return mr_finish(mr);
}

/* From now on no window can be bound.  False: there are some. */
static bool mr_stop_windows(struct rxe_mr *mr)
{
	return atomic_cmpxchg(&mr->windows, 0, -1) <= 0;
}

/* What is behind the MR stays: no need to look at the process's memory again. */
static void mr_change(struct rxe_mr *mr, struct rxe_pd *pd, int access)
{
	spin_lock_bh(&mr->lock);
	write_seqcount_begin(&mr->seq);
	mr->pd = pd;
	mr->access = access;
	write_seqcount_end(&mr->seq);
	spin_unlock_bh(&mr->lock);
	/* holders keep it with BH disabled: those with the old rights are done then */
	synchronize_rcu();
}

/**
 * rxe_rereg_user_mr - change the memory, the PD or the rights of an MR
 * @ibmr:	MR of rxe_reg_user_mr(), without windows
 * @flags:	IB_MR_REREG_*: what to change
 * @start:	as for rxe_reg_user_mr(), with IB_MR_REREG_TRANS
 * @length:	likewise
 * @iova:	likewise
 * @access:	with IB_MR_REREG_ACCESS
 * @ibpd:	the new PD, or the old one
 * @udata:	not used
 *
 * PD and rights change in place, at once for every lookup.  For other memory,
 * and for writing to what was pinned for reading, there is a new MR with a new
 * key; the core deregisters the old one.  After an error all is as before.
 *
 * Context: process, may sleep.
 * Return: NULL: changed in place; the new MR; or ERR_PTR(): -EBUSY windows are
 * bound, and as rxe_reg_user_mr().
 */
struct ib_mr *rxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct rxe_mr *mr = to_rmr(ibmr);
	struct ib_mr *new = NULL;

	if (mr->type != RXE_MR_USER)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (access & IB_ACCESS_FLUSH_PERSISTENT & ~mr->access)
		return ERR_PTR(-EOPNOTSUPP);	/* the memory was not checked */
	if (access & ~RXE_MR_ACCESS || (access ^ mr->access) & IB_ZERO_BASED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!mr_stop_windows(mr))
		return ERR_PTR(-EBUSY);

	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr->umem->address;
		length = mr->umem->length;
		iova = mr->iova;
	}
	if (flags & IB_MR_REREG_TRANS || (ib_access_writable(access) && !mr->umem->writable))
		new = rxe_reg_user_mr(ibpd, start, length, iova, access, NULL, udata);
	else
		mr_change(mr, to_rpd(ibpd), access);

	/* a new one has no windows yet, and the old one shall not get any */
	if (IS_ERR_OR_NULL(new))
		atomic_set(&mr->windows, 0);
	return new;
}

/**
 * rxe_mr_put - drop a reference of rxe_mr_get()
 * @mr:	MR
 *
 * Context: any.
 */
void rxe_mr_put(struct rxe_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->freed);
}

/**
 * rxe_dereg_mr - end an MR
 * @ibmr:	any MR
 * @udata:	not used
 *
 * When it returns 0, nothing reads or writes the memory through this MR.
 *
 * Context: process, sleeps until all holders are done.
 * Return: 0, -EBUSY: memory windows are bound to it (IBTA 10.6.7.2.6).
 */
int rxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct rxe_dev *rxe = to_rdev(ibmr->device);
	struct rxe_mr *mr = to_rmr(ibmr);

	if (!mr_stop_windows(mr))
		return -EBUSY;
	xa_erase_bh(&rxe->mrs, mr->index);
	rxe_mr_put(mr);
	wait_for_completion(&mr->freed);

	mr_unmap(mr);
	rxe_limit_put(&rxe->num_mr);
	kfree_rcu(mr, rcu);
	return 0;
}
