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

/*
 * The span from @va on, and where it begins if it has @len bytes.  Blocks that
 * happen to lie behind one another are one span, up to a burst's worth.  Pages
 * that come and go are none.
 */
static u8 *span_find(struct rxe_span *s, const struct rxe_mr *mr, u64 va, unsigned int len)
{
	const unsigned int shift = mr->block_shift;
	const u64 size = 1ULL << shift;
	u64 off, i;

	s->va = va;
	s->len = 0;
	if (mr->type == RXE_MR_ODP)
		return NULL;
	if (mr->type == RXE_MR_DMA) {
		s->ptr = ib_virt_dma_to_ptr(va);
		s->len = U64_MAX;
		return s->ptr;
	}
	off = va - mr->iova + mr->first_offset;
	i = off >> shift;
	s->ptr = mr->blocks[i] + (off & (size - 1));
	s->len = size - (off & (size - 1));
	while (s->len < SZ_64K && ++i < mr->nr_blocks && mr->blocks[i] == s->ptr + s->len)
		s->len += size;
	return len <= s->len ? s->ptr : NULL;
}

int rxe_mr_read_pieces(const struct rxe_mr *mr, struct rxe_span *s, u64 va, void *dst,
		       unsigned int len)
{
	const u8 *whole = span_find(s, mr, va, len);

	if (likely(whole)) {
		rxe_memcpy(dst, whole, len);
		return 0;
	}

	rxe_mr_begin(mr);
	while (len) {
		u64 room;
		void *src = mr_ptr(mr, va, false, &room);
		unsigned int n = min_t(u64, len, room);

		if (!src)
			break;
		rxe_memcpy(dst, src, n);
		dst += n;
		va += n;
		len -= n;
	}
	rxe_mr_end(mr);
	return len ? -EAGAIN : 0;
}

int rxe_mr_write_pieces(const struct rxe_mr *mr, struct rxe_span *s, u64 va, const void *src,
			unsigned int len)
{
	u8 *whole = span_find(s, mr, va, len);

	if (likely(whole)) {
		rxe_memcpy(whole, src, len);
		return 0;
	}

	rxe_mr_begin(mr);
	while (len) {
		u64 room;
		void *dst = mr_ptr(mr, va, true, &room);
		unsigned int n = min_t(u64, len, room);

		if (!dst)
			break;
		rxe_memcpy(dst, src, n);
		src += n;
		va += n;
		len -= n;
	}
	rxe_mr_end(mr);
	return len ? -EAGAIN : 0;
}

static void sg_drop_mr(struct rxe_sg_cursor *c)
{
	if (c->mr)
		rxe_mr_put(c->mr);
	c->mr = NULL;
	c->span.len = 0;
}

/* The caller may do something else now. */
static void sg_pause(struct rxe_sg_cursor *c)
{
	if (c->mr && rxe_mr_is_transient(c->mr))
		sg_drop_mr(c);
}

void rxe_sg_init(struct rxe_sg_cursor *c, struct rxe_pd *pd, const struct ib_sge *sge,
		 unsigned int num_sge, int access)
{
	*c = (struct rxe_sg_cursor) {
		.pd		= pd,
		.sge		= sge,
		.num_sge	= num_sge,
		.access		= access,
	};
}

void rxe_sg_seek(struct rxe_sg_cursor *c, u64 offset)
{
	unsigned int i = 0;

	while (i < c->num_sge && offset >= c->sge[i].length) {
		offset -= c->sge[i].length;
		i++;
	}
	if (i != c->cur)
		sg_drop_mr(c);
	c->cur = i;
	c->off = i < c->num_sge ? offset : 0;
}

/*
 * Go on to the next byte of the list and look its MR up.
 * Return: bytes from there to the end of its SGE, or an error.
 */
static s64 sg_run(struct rxe_sg_cursor *c)
{
	const struct ib_sge *sge;
	struct rxe_mr *mr;

	while (c->cur < c->num_sge && c->off >= c->sge[c->cur].length) {
		sg_drop_mr(c);
		c->cur++;
		c->off = 0;
	}
	if (c->cur >= c->num_sge)
		return -ERANGE;

	sge = &c->sge[c->cur];
	if (!c->mr) {
		mr = rxe_mr_get(c->pd, sge->lkey, c->access, sge->addr, sge->length);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		c->mr = mr;
	}
	return sge->length - c->off;
}

/* As rxe_sg_next(), where the MR's next span begins. */
static u8 *sg_next_span(struct rxe_sg_cursor *c, unsigned int len)
{
	const struct ib_sge *sge = &c->sge[c->cur];
	u8 *p;

	/* at the SGE's end there may be no block, and nothing is left to copy */
	if (!c->mr || c->off >= sge->length || len > sge->length - c->off)
		return NULL;
	p = span_find(&c->span, c->mr, sge->addr + c->off, len);
	if (p)
		c->off += len;
	return p;
}

int rxe_sg_read_pieces(struct rxe_sg_cursor *c, void *dst, unsigned int len)
{
	const u8 *src = sg_next_span(c, len);

	if (likely(src)) {
		rxe_memcpy(dst, src, len);
		return 0;
	}

	while (len) {
		s64 run = sg_run(c);
		unsigned int n;
		int err;

		if (run < 0)
			return run;
		n = min_t(s64, len, run);
		c->run = n;
		err = rxe_mr_read(c->mr, &c->span, c->sge[c->cur].addr + c->off, dst, n);
		if (err)
			return err;
		dst += n;
		c->off += n;
		len -= n;
	}
	sg_pause(c);
	return 0;
}

int rxe_sg_write_pieces(struct rxe_sg_cursor *c, const void *src, unsigned int len)
{
	u8 *dst = sg_next_span(c, len);

	if (likely(dst)) {
		rxe_memcpy(dst, src, len);
		return 0;
	}

	while (len) {
		s64 run = sg_run(c);
		unsigned int n;
		int err;

		if (run < 0)
			return run;
		n = min_t(s64, len, run);
		c->run = n;
		err = rxe_mr_write(c->mr, &c->span, c->sge[c->cur].addr + c->off, src, n);
		if (err)
			return err;
		src += n;
		c->off += n;
		len -= n;
	}
	sg_pause(c);
	return 0;
}

int rxe_sg_wait(const struct rxe_sg_cursor *c, struct rxe_fault *f)
{
	const struct ib_sge *sge = &c->sge[c->cur];

	return rxe_fault_wait(f, c->pd, sge->lkey, sge->addr + c->off, c->run, c->access);
}

int rxe_sg_check(struct rxe_pd *pd, const struct ib_sge *sge, unsigned int num_sge, int access)
{
	unsigned int i;

	for (i = 0; i < num_sge; i++) {
		struct rxe_mr *mr;

		if (!sge[i].length)
			continue;
		mr = rxe_mr_get(pd, sge[i].lkey, access, sge[i].addr, sge[i].length);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		rxe_mr_put(mr);
	}
	return 0;
}

void rxe_sg_release(struct rxe_sg_cursor *c)
{
	sg_drop_mr(c);
}
