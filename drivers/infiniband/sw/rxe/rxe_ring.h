/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Rings shared with user space (struct rxe_queue_buf of the uABI).
 *
 * User space can write every byte of a ring at any time.  So the kernel keeps
 * its own mask, element size and its own side's index; the other side's index
 * is read once per use, masked, and nothing is believed beyond that.
 *
 *   SQ, RQ, SRQ	user produces, kernel consumes (rxe_ring_pending/elem/consume)
 *   CQ		kernel produces, user consumes (rxe_cq.c, rxe_ring_elem/publish)
 *
 * Barriers: the producer's rxe_ring_publish (store-release of producer_index)
 * pairs with the consumer's load-acquire of it; likewise consumer_index the
 * other way.  One slot stays empty: producer == consumer means empty.
 *
 * Rings of kernel users have the same form and are not mapped anywhere.
 */
#ifndef RXE_RING_H
#define RXE_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

struct rxe_ring_map;

/**
 * struct rxe_ring - kernel's view of one ring
 * @buf:	header and elements, vmalloc memory, charged to the memory cgroup
 * @size:	bytes of @buf, whole pages
 * @mask:	number of slots - 1
 * @log2_elem:	log2 of a slot's bytes
 * @index:	the kernel side's index, 0..mask
 * @map:	the mmap entry that owns @buf once it is shared, else NULL
 */
struct rxe_ring {
	struct rxe_queue_buf	*buf;
	size_t			size;
	u32			mask;
	u32			log2_elem;
	u32			index;
	struct rxe_ring_map	*map;
};

/**
 * rxe_ring_alloc - allocate a ring
 * @ring:	result
 * @entries:	elements that must fit at once (slots are rounded up past it)
 * @elem_size:	bytes of an element, rounded up to a power of two
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM.
 */
int rxe_ring_alloc(struct rxe_ring *ring, u32 entries, u32 elem_size);

/**
 * rxe_ring_share - let the owner of @udata map the ring
 * @mi:		offset and size for the create response
 *
 * Return: 0, -ENOMEM.  On success rxe_ring_free() withdraws it; memory that is
 * still mapped lives until it is unmapped.
 */
int rxe_ring_share(struct rxe_ring *ring, struct ib_udata *udata, struct mminfo *mi);

/**
 * rxe_ring_move - copy elements into a ring that will take another one's place
 * @to:		fresh ring with slots as large as those of @from, and more than @n of them
 * @at:		index there of the first one
 * @from:	ring in use
 * @first:	index here of the first one
 * @n:		elements
 */
void rxe_ring_move(struct rxe_ring *to, u32 at, const struct rxe_ring *from, u32 first, u32 n);

/* Free it, shared or not; does nothing to a zeroed ring. */
void rxe_ring_free(struct rxe_ring *ring);

static inline void *rxe_ring_elem(const struct rxe_ring *ring, u32 index)
{
	return (u8 *)ring->buf->data + ((size_t)(index & ring->mask) << ring->log2_elem);
}

/* Consumer side: elements that wait, 0..mask. */
static inline u32 rxe_ring_pending(const struct rxe_ring *ring)
{
	/* Pairs with the producer's release: elements are read after it. */
	return (smp_load_acquire(&ring->buf->producer_index) - ring->index) & ring->mask;
}

/* Consumer side: give the element at @index back to the producer. */
static inline void rxe_ring_consume(struct rxe_ring *ring)
{
	ring->index = (ring->index + 1) & ring->mask;
	/* The element has been read before the producer may write it again. */
	smp_store_release(&ring->buf->consumer_index, ring->index);
}

/* Producer side: hand over what was written into slot @index. */
static inline void rxe_ring_publish(struct rxe_ring *ring)
{
	ring->index = (ring->index + 1) & ring->mask;
	/* Pairs with the consumer's acquire: the element is written before. */
	smp_store_release(&ring->buf->producer_index, ring->index);
}

/* ib_device_ops */
int rxe_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void rxe_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* RXE_RING_H */
