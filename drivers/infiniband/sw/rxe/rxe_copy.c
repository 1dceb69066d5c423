// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Copies between packets and registered memory. */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "rxe_access.h"
#include "rxe_copy.h"
#include "rxe_mr.h"
#include "rxe_odp.h"

/*
 * Where the byte at @va is, and how many bytes follow it there; the caller's
 * range check makes the index valid.  NULL: not there now.
 */
static void *mr_ptr(const struct rxe_mr *mr, u64 va, bool write, u64 *room)
{
	u64 off, in_block;

	if (mr->type == RXE_MR_DMA) {
		*room = U64_MAX;
		return ib_virt_dma_to_ptr(va);
	}
	if (mr->type == RXE_MR_ODP) {
		void *p = rxe_odp_ptr(mr->odp, va - mr->iova, write);

		*room = PAGE_SIZE - offset_in_page(p);
		return p;
	}
	off = va - mr->iova + mr->first_offset;
	in_block = off & ((1ULL << mr->block_shift) - 1);
	*room = (1ULL << mr->block_shift) - in_block;
	return mr->blocks[off >> mr->block_shift] + in_block;
}

/* Blocks and pages are aligned; in RXE_MR_DMA addresses are what they seem. */
bool rxe_mr_is_aligned(const struct rxe_mr *mr, u64 va)
{
	return IS_ALIGNED(va - mr->iova + mr->first_offset, sizeof(u64));
}

void rxe_mr_begin(const struct rxe_mr *mr)
{
	if (mr->type == RXE_MR_ODP)
		rxe_odp_lock(mr->odp);
}

void rxe_mr_end(const struct rxe_mr *mr)
{
	if (mr->type == RXE_MR_ODP)
		rxe_odp_unlock(mr->odp);
}

void *rxe_mr_ptr(const struct rxe_mr *mr, u64 va, bool write)
{
	u64 room;

	return mr_ptr(mr, va, write, &room);
}

static __always_inline void copy(void *mem, u8 *packet, unsigned int len, bool write)
{
	if (write)
		rxe_memcpy(mem, packet, len);
	else
		rxe_memcpy(packet, mem, len);
}

/* One packet, in as many blocks or pages as it takes.  False: a page is not there. */
static __always_inline bool mr_copy(const struct rxe_mr *mr, u64 va, u8 *packet, unsigned int len,
				    bool write)
{
	rxe_mr_begin(mr);
	while (len) {
		u64 room;
		void *mem = mr_ptr(mr, va, write, &room);
		unsigned int n = min_t(u64, len, room);

		if (unlikely(!mem))
			break;
		copy(mem, packet, n, write);
		packet += n;
		va += n;
		len -= n;
	}
	rxe_mr_end(mr);
	return !len;
}

/* Most packets lie in one block: that way is kept short. */
static __always_inline unsigned int mr_copy_many(const struct rxe_mr *mr, u64 va, u8 *packet,
						 unsigned int len, unsigned int stride,
						 unsigned int num, bool write)
{
	const unsigned int shift = mr->block_shift;
	const u64 start = mr->iova - mr->first_offset;
	const u64 size = 1ULL << shift;
	void **blocks = mr->blocks;
	unsigned int i;

	for (i = 0; i < num; i++) {
		u64 off = va - start;

		if (likely(blocks && (off & (size - 1)) + len <= size))
			copy(blocks[off >> shift] + (off & (size - 1)), packet, len, write);
		else if (!mr_copy(mr, va, packet, len, write))
			break;
		va += len;
		packet += stride;
	}
	return i;
}

unsigned int rxe_mr_read_many(const struct rxe_mr *mr, u64 va, u8 *dst, unsigned int len,
			      unsigned int stride, unsigned int num)
{
	return mr_copy_many(mr, va, dst, len, stride, num, false);
}

unsigned int rxe_mr_write_many(const struct rxe_mr *mr, u64 va, const u8 *src, unsigned int len,
			       unsigned int stride, unsigned int num)
{
	return mr_copy_many(mr, va, (u8 *)src, len, stride, num, true);
}

static void sg_put_mr(struct rxe_mr **mr)
{
	if (*mr)
		rxe_mr_put(*mr);
	*mr = NULL;
}

/* The current SGE is done with. */
static void sg_leave_mr(struct rxe_sg_cursor *c)
{
	if (!c->mr)
		return;
	sg_put_mr(&c->spare);
	c->spare = c->mr;
	c->mr = NULL;
}

/* The caller may do something else now. */
static void sg_pause(struct rxe_sg_cursor *c)
{
	if (c->mr && rxe_mr_is_transient(c->mr))
		sg_put_mr(&c->mr);
	if (c->spare && rxe_mr_is_transient(c->spare))
		sg_put_mr(&c->spare);
}

void rxe_sg_start(struct rxe_sg_cursor *c, struct rxe_pd *pd, const struct ib_sge *sge,
		  unsigned int num_sge, int access, u64 offset)
{
	unsigned int i = 0;

	sg_leave_mr(c);
	while (unlikely(offset) && i < num_sge && offset >= sge[i].length) {
		offset -= sge[i].length;
		i++;
	}
	c->pd = pd;
	c->sge = sge;
	c->num_sge = num_sge;
	c->access = access;
	c->cur = i;
	c->off = i < num_sge ? offset : 0;
}

static int sg_get_mr(struct rxe_sg_cursor *c)
{
	const struct ib_sge *sge = &c->sge[c->cur];
	struct rxe_mr *mr;

	if (c->spare &&
	    !rxe_mr_check(c->spare, c->pd, sge->lkey, c->access, sge->addr, sge->length)) {
		c->mr = c->spare;
		c->spare = NULL;
		return 0;
	}
	mr = rxe_mr_get(c->pd, sge->lkey, c->access, sge->addr, sge->length);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	c->mr = mr;
	return 0;
}

/* Go on to the next byte of the list and look its MR up. */
static int sg_next_mr(struct rxe_sg_cursor *c)
{
	while (c->cur < c->num_sge && c->off >= c->sge[c->cur].length) {
		sg_leave_mr(c);
		c->cur++;
		c->off = 0;
	}
	if (c->cur >= c->num_sge)
		return -ERANGE;
	return c->mr ? 0 : sg_get_mr(c);
}

/* One packet, in as many SGEs as it takes. */
static int sg_copy(struct rxe_sg_cursor *c, u8 *packet, unsigned int len, bool write)
{
	while (len) {
		int err = sg_next_mr(c);

		if (err)
			return err;
		c->run = min(len, c->sge[c->cur].length - c->off);
		if (!mr_copy(c->mr, c->sge[c->cur].addr + c->off, packet, c->run, write))
			return -EAGAIN;
		packet += c->run;
		c->off += c->run;
		len -= c->run;
	}
	return 0;
}

/* Packets of @len bytes, up to @num, that are left in the SGE whose MR is at hand. */
static unsigned int sg_whole_packets(const struct rxe_sg_cursor *c, unsigned int len,
				     unsigned int num)
{
	u32 left;

	if (!c->mr || !len)
		return 0;
	left = c->sge[c->cur].length - c->off;
	return left >= num * len ? num : left / len;
}

static __always_inline unsigned int sg_copy_many(struct rxe_sg_cursor *c, u8 *packet,
						 unsigned int len, unsigned int stride,
						 unsigned int num, int *err, bool write)
{
	unsigned int n, done, left = num;

	*err = 0;
	do {
		n = sg_whole_packets(c, len, left);
		if (n) {
			c->run = len;
			done = mr_copy_many(c->mr, c->sge[c->cur].addr + c->off, packet, len,
					    stride, n, write);
			c->off += done * len;
			if (done < n)
				*err = -EAGAIN;
		} else {
			*err = sg_copy(c, packet, len, write);
			done = !*err;
		}
		left -= done;
		packet += done * stride;
	} while (left && !*err);
	sg_pause(c);
	return num - left;
}

unsigned int rxe_sg_read_many(struct rxe_sg_cursor *c, u8 *dst, unsigned int len,
			      unsigned int stride, unsigned int num, int *err)
{
	return sg_copy_many(c, dst, len, stride, num, err, false);
}

unsigned int rxe_sg_write_many(struct rxe_sg_cursor *c, const u8 *src, unsigned int len,
			       unsigned int stride, unsigned int num, int *err)
{
	return sg_copy_many(c, (u8 *)src, len, stride, num, err, true);
}

int rxe_sg_wait(const struct rxe_sg_cursor *c, struct rxe_fault *f)
{
	const struct ib_sge *sge = &c->sge[c->cur];

	return rxe_fault_wait(f, c->pd, sge->lkey, sge->addr + c->off, c->run, c->access);
}

void rxe_sg_refused(const struct rxe_sg_cursor *c, const struct rxe_qp *qp, int err)
{
	const struct ib_sge end = {};
	const struct ib_sge *sge = c->cur < c->num_sge ? &c->sge[c->cur] : &end;

	rxe_access_refused(qp, false, sge->lkey, sge->addr, sge->length, err);
}

int rxe_sg_check(struct rxe_pd *pd, const struct ib_sge *sge, unsigned int num_sge, int access,
		 unsigned int *bad)
{
	unsigned int i;

	for (i = 0; i < num_sge; i++) {
		struct rxe_mr *mr;

		if (!sge[i].length)
			continue;
		mr = rxe_mr_get(pd, sge[i].lkey, access, sge[i].addr, sge[i].length);
		if (IS_ERR(mr)) {
			*bad = i;
			return PTR_ERR(mr);
		}
		rxe_mr_put(mr);
	}
	return 0;
}

void rxe_sg_release(struct rxe_sg_cursor *c)
{
	sg_put_mr(&c->mr);
	sg_put_mr(&c->spare);
}
