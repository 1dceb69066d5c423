// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>
#include "rxe_alloc.h"
#include "rxe_pd.h"
#include "rxe_ring.h"

/**
 * struct rxe_ring_map - a ring that a process may map
 * @entry:	core's part; its count decides how long both live
 * @buf:	memory of the ring, owned
 */
struct rxe_ring_map {
	struct rdma_user_mmap_entry	entry;
	struct rxe_queue_buf		*buf;
};

int rxe_ring_alloc(struct rxe_ring *ring, u32 entries, u32 elem_size)
{
	u64 slots = roundup_pow_of_two((u64)entries + 1);
	u32 log2_elem = ilog2(roundup_pow_of_two((u64)elem_size));
	u64 size = PAGE_ALIGN(sizeof(struct rxe_queue_buf) + (slots << log2_elem));

	/* struct mminfo has 32 bits for it. */
	if (slots > U32_MAX || size > U32_MAX)
		return -ENOMEM;

	memset(ring, 0, sizeof(*ring));
	ring->buf = rxe_user_pages(size);
	if (!ring->buf)
		return -ENOMEM;

	ring->size = size;
	ring->mask = slots - 1;
	ring->log2_elem = log2_elem;
	ring->buf->index_mask = ring->mask;
	ring->buf->log2_elem_size = log2_elem;
	return 0;
}

int rxe_ring_share(struct rxe_ring *ring, struct ib_udata *udata, struct mminfo *mi)
{
	struct rxe_ucontext *uc = rdma_udata_to_drv_context(udata, struct rxe_ucontext, ibuc);
	struct rxe_ring_map *map;
	int err;

	map = kzalloc_obj(*map, RXE_GFP_USER);
	if (!map)
		return -ENOMEM;

	map->buf = ring->buf;
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &map->entry, ring->size);
	if (err) {
		kfree(map);
		return err;
	}

	ring->map = map;
	mi->offset = rdma_user_mmap_get_offset(&map->entry);
	mi->size = ring->size;
	return 0;
}

void rxe_ring_move(struct rxe_ring *to, u32 at, const struct rxe_ring *from, u32 first, u32 n)
{
	u32 i;

	WARN_ON_ONCE(to->log2_elem != from->log2_elem || n > to->mask);
	for (i = 0; i < n; i++)
		memcpy(rxe_ring_elem(to, at + i), rxe_ring_elem(from, first + i),
		       1 << to->log2_elem);
}

void rxe_ring_free(struct rxe_ring *ring)
{
	if (ring->map)
		rdma_user_mmap_entry_remove(&ring->map->entry);
	else
		vfree(ring->buf);
	memset(ring, 0, sizeof(*ring));
}

/* The last user of an entry is gone: rxe_ring_free() or an mmap that overlapped it. */
void rxe_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct rxe_ring_map *map = container_of(entry, struct rxe_ring_map, entry);

	vfree(map->buf);
	kfree(map);
}

static int rxe_mmap_pages(struct vm_area_struct *vma, const struct rxe_queue_buf *buf)
{
	const void *p = buf;
	unsigned long addr;
	int err = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (addr = vma->vm_start; !err && addr < vma->vm_end; addr += PAGE_SIZE) {
		err = vm_insert_page(vma, addr, vmalloc_to_page(p));
		p += PAGE_SIZE;
	}
	return err;
}

/*
 * The mapping counts its pages and keeps the core's vm_ops, which do nothing
 * for it: it refers neither to the entry nor to this module, and may outlive
 * both.
 */
int rxe_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct rxe_ring_map *map;
	int err;

	/* NULL also when the size is not the ring's or the mapping not shared. */
	entry = rdma_user_mmap_entry_get(ibuc, vma);
	if (!entry)
		return -EINVAL;

	map = container_of(entry, struct rxe_ring_map, entry);
	err = rxe_mmap_pages(vma, map->buf);
	rdma_user_mmap_entry_put(entry);
	return err;
}
