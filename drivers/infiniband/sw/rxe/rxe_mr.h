/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions. */
#ifndef RXE_MR_H
#define RXE_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

struct dma_buf;
struct rxe_dev;
struct rxe_odp;
struct rxe_pd;
struct ib_umem;

enum rxe_mr_type {
	RXE_MR_DMA,	/* all of kernel memory, for kernel users */
	RXE_MR_USER,	/* pinned user memory */
	RXE_MR_FAST,	/* a kernel user's, see rxe_fastreg.c */
	RXE_MR_ODP,	/* user memory that is paged in on demand */
	RXE_MR_DMABUF,	/* memory of another driver, mapped by it */
};

/**
 * struct rxe_mr - memory region
 * @ibmr:	core's part; lkey and rkey are equal
 * @type:	what is behind it
 * @lock:	serialises changes of what @seq covers; a leaf
 * @seq:	lookups see all of a change of @valid, @pd, @access, @variant,
 *		@iova and @length, or nothing of it
 * @valid:	RXE_MR_FAST: registered; the others always are
 * @pd:		protection domain
 * @access:	IB_ACCESS_* rights given at registration
 * @iova:	first address that peers and SGEs use
 * @length:	bytes; U64_MAX for RXE_MR_DMA
 * @block_shift: log2 of the size of the blocks
 * @first_offset: offset of @iova in the first block
 * @nr_blocks:	number of blocks
 * @max_blocks: RXE_MR_FAST: room in @blocks
 * @blocks:	kernel address of each block; @block itself when there is one
 * @block:	see @blocks
 * @index:	place in the table of the device
 * @variant:	random low byte of the key
 * @umem:	RXE_MR_USER: the pin, owned
 * @odp:	RXE_MR_ODP: the mirror, owned
 * @dmabuf:	RXE_MR_DMABUF: the buffer, with a reference, mapped and begun
 * @windows:	memory windows bound to it; negative: none may be any more
 * @ref:	one for the table, one for each holder (rxe_mr_get())
 * @freed:	completed when @ref reaches zero; dereg waits for it
 * @rcu:	lookups run under RCU
 */
struct rxe_mr {
	struct ib_mr		ibmr;
	enum rxe_mr_type	type;
	spinlock_t		lock;	/* see above */
	seqcount_spinlock_t	seq;
	bool			valid;
	struct rxe_pd		*pd;
	int			access;
	u64			iova;
	u64			length;
	unsigned int		block_shift;
	u64			first_offset;
	u64			nr_blocks;
	u64			max_blocks;
	void			**blocks;
	void			*block;
	u32			index;
	u8			variant;
	struct ib_umem		*umem;
	struct rxe_odp		*odp;
	struct dma_buf		*dmabuf;
	atomic_t		windows;
	refcount_t		ref;
	struct completion	freed;
	struct rcu_head		rcu;
};

static inline struct rxe_mr *to_rmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct rxe_mr, ibmr);
}

/* A key is the index in the table of MRs, 24 bits, and a random byte. */
#define RXE_KEY_INDEX_SHIFT	8
#define RXE_KEY_INDEX_MAX	0xffffff
#define RXE_MW_INDEX_MIN	0x800000	/* the upper half is for memory windows */

/* Rights of peers. */
#define RXE_ACCESS_REMOTE	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
				 IB_ACCESS_REMOTE_ATOMIC)

static inline u32 rxe_key_index(u32 key)
{
	return key >> RXE_KEY_INDEX_SHIFT;
}

static inline u32 rxe_mr_key(const struct rxe_mr *mr)
{
	return mr->index << RXE_KEY_INDEX_SHIFT | mr->variant;
}

/* May a WR invalidate it?  See rxe_mem_is_transient(). */
static inline bool rxe_mr_is_transient(const struct rxe_mr *mr)
{
	return mr->type == RXE_MR_FAST;
}

void rxe_mr_put(struct rxe_mr *mr);

/**
 * rxe_mr_get_window - one more window is bound to the MR
 * @mr:		held by the caller; the window keeps it afterwards
 *
 * Return: false when it is about to end or to change.
 */
static inline bool rxe_mr_get_window(struct rxe_mr *mr)
{
	return atomic_inc_unless_negative(&mr->windows);
}

/* One window less. */
static inline void rxe_mr_put_window(struct rxe_mr *mr)
{
	atomic_dec(&mr->windows);
}

/* A fast-registration MR with room for @max_blocks pages, not valid.  Return: or ERR_PTR(). */
struct ib_mr *rxe_mr_create_fast(struct ib_pd *ibpd, u32 max_blocks);

/* ib_device_ops */
struct ib_dmah;
struct uverbs_attr_bundle;
struct ib_mr *rxe_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *rxe_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 iova, int access,
			      struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *rxe_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, struct ib_dmah *dmah,
				     struct uverbs_attr_bundle *attrs);
struct ib_mr *rxe_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				int access, struct ib_pd *ibpd, struct ib_udata *udata);
int rxe_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* RXE_MR_H */
