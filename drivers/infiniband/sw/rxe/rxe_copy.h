/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copies between packets and registered memory. */
#ifndef RXE_COPY_H
#define RXE_COPY_H

#include <linux/string.h>
#include <rdma/ib_verbs.h>

struct rxe_fault;
struct rxe_mr;
struct rxe_pd;

/**
 * rxe_memcpy - memcpy() for payloads
 * @dst:	destination
 * @src:	source, not overlapping
 * @len:	bytes
 *
 * Without FSRM the kernel's memcpy() is a loop over registers, twice the
 * instructions of "rep movsq"; short copies are left to it, for the start-up
 * of a string instruction.  So are all when an instrumented one is wanted.
 */
static inline void rxe_memcpy(void *dst, const void *src, size_t len)
{
#if defined(CONFIG_X86_64) && !defined(CONFIG_KASAN) && !defined(CONFIG_KMSAN)
	if (len >= 256) {
		size_t words = len / 8;

		len %= 8;
		asm volatile("rep movsq"
			     : "+D" (dst), "+S" (src), "+c" (words) : : "memory");
		if (!len)
			return;
	}
#endif
	memcpy(dst, src, len);
}

/**
 * struct rxe_span - bytes of an MR that follow each other in kernel memory
 * @va:		the first
 * @ptr:	where it is
 * @len:	their number; 0: nothing is known
 *
 * Kept by who goes through an MR from one end to the other, as long as it holds
 * the MR; it knows nothing of the MR's range.
 */
struct rxe_span {
	u64	va;
	u8	*ptr;
	u64	len;
};

/* Where @len bytes at @va are, NULL if the span does not have all of them. */
static inline u8 *rxe_span_ptr(const struct rxe_span *s, u64 va, unsigned int len)
{
	u64 off = va - s->va;

	return off < s->len && len <= s->len - off ? s->ptr + off : NULL;
}

int rxe_mr_read_pieces(const struct rxe_mr *mr, struct rxe_span *s, u64 va, void *dst,
		       unsigned int len);
int rxe_mr_write_pieces(const struct rxe_mr *mr, struct rxe_span *s, u64 va, const void *src,
			unsigned int len);

/**
 * rxe_mr_read - copy out of an MR
 * @mr:		held by the caller, range checked by rxe_mr_get()
 * @s:		span of this MR, of the caller's last access, or with length 0
 * @va:		first byte
 * @dst:	destination
 * @len:	bytes
 *
 * Context: BH disabled.
 * Return: 0; -EAGAIN: a page must be faulted in first, see rxe_odp.h; part of
 * @dst may have been written.
 */
static inline int rxe_mr_read(const struct rxe_mr *mr, struct rxe_span *s, u64 va, void *dst,
			      unsigned int len)
{
	u8 *src = rxe_span_ptr(s, va, len);

	if (unlikely(!src))
		return rxe_mr_read_pieces(mr, s, va, dst, len);
	rxe_memcpy(dst, src, len);
	return 0;
}

/**
 * rxe_mr_write - copy into an MR
 * @mr:		as for rxe_mr_read()
 * @s:		likewise
 * @va:		first byte
 * @src:	source
 * @len:	bytes
 *
 * Context: BH disabled.
 * Return: as rxe_mr_read().
 */
static inline int rxe_mr_write(const struct rxe_mr *mr, struct rxe_span *s, u64 va,
			       const void *src, unsigned int len)
{
	u8 *dst = rxe_span_ptr(s, va, len);

	if (unlikely(!dst))
		return rxe_mr_write_pieces(mr, s, va, src, len);
	rxe_memcpy(dst, src, len);
	return 0;
}

/**
 * rxe_mr_begin - what rxe_mr_ptr() finds stays there until rxe_mr_end()
 *
 * Context: BH disabled until rxe_mr_end().
 */
void rxe_mr_begin(const struct rxe_mr *mr);
void rxe_mr_end(const struct rxe_mr *mr);

/**
 * rxe_mr_ptr - kernel address of a byte of an MR
 * @mr:		as for rxe_mr_read(), after rxe_mr_begin()
 * @va:		the byte
 * @write:	it will be written
 *
 * Return: the address, with the bytes up to the end of the page behind it;
 * NULL: the page must be faulted in first.
 */
void *rxe_mr_ptr(const struct rxe_mr *mr, u64 va, bool write);

/* Can the eight bytes there be changed at once?  As for rxe_mr_read(). */
bool rxe_mr_is_aligned(const struct rxe_mr *mr, u64 va);

/**
 * struct rxe_sg_cursor - a place in a list of SGEs
 * @pd:		PD that the keys must belong to
 * @sge:	the list, in kernel memory
 * @num_sge:	its length
 * @access:	rights that every copy needs (IB_ACCESS_LOCAL_WRITE or 0)
 * @cur:	current SGE
 * @off:	offset in it, bytes
 * @mr:		MR of the current SGE, with a reference; NULL when not looked up yet
 * @span:	of @mr, where the last copy was
 * @run:	bytes of the copy under way
 *
 * Lives on an executor's stack: an MR is held for one run at the most, so
 * that dereg_mr never waits for a peer; a transient one for one copy.
 */
struct rxe_sg_cursor {
	struct rxe_pd		*pd;
	const struct ib_sge	*sge;
	unsigned int		num_sge;
	int			access;
	unsigned int		cur;
	u32			off;
	struct rxe_mr		*mr;
	struct rxe_span		span;
	u32			run;
};

/**
 * rxe_sg_init - start at the first byte of a list
 * @c:		cursor
 * @pd:		PD that the keys must belong to
 * @sge:	the list, in kernel memory; must outlive the cursor
 * @num_sge:	its length
 * @access:	rights that every copy needs
 *
 * Takes no reference yet; rxe_sg_release() ends it.
 */
void rxe_sg_init(struct rxe_sg_cursor *c, struct rxe_pd *pd, const struct ib_sge *sge,
		 unsigned int num_sge, int access);

/**
 * rxe_sg_seek - go to byte @offset, counted from the start of the list
 * @c:		cursor
 * @offset:	bytes
 *
 * An offset behind the end leaves the cursor at the end.
 */
void rxe_sg_seek(struct rxe_sg_cursor *c, u64 offset);

int rxe_sg_read_pieces(struct rxe_sg_cursor *c, void *dst, unsigned int len);
int rxe_sg_write_pieces(struct rxe_sg_cursor *c, const void *src, unsigned int len);

/* Where the next @len bytes are, if they are in one piece that is known; go behind them. */
static inline u8 *rxe_sg_next(struct rxe_sg_cursor *c, unsigned int len)
{
	const struct ib_sge *sge = &c->sge[c->cur];
	u8 *p;

	if (!c->mr || c->off > sge->length || len > sge->length - c->off)
		return NULL;
	p = rxe_span_ptr(&c->span, sge->addr + c->off, len);
	if (p)
		c->off += len;
	return p;
}

/**
 * rxe_sg_read - copy the next @len bytes of the list to @dst and advance
 * @c:		cursor
 * @dst:	destination
 * @len:	bytes
 *
 * Return: 0; -EINVAL, -EACCES or -ERANGE as rxe_mr_get(), or -ERANGE at the
 * end of the list; -EAGAIN as rxe_mr_read(): rxe_sg_wait() tells for what.
 * After an error the cursor's place is of no use for another copy.
 */
static inline int rxe_sg_read(struct rxe_sg_cursor *c, void *dst, unsigned int len)
{
	u8 *src = rxe_sg_next(c, len);

	if (!src)
		return rxe_sg_read_pieces(c, dst, len);
	rxe_memcpy(dst, src, len);
	return 0;
}

/**
 * rxe_sg_write - copy @len bytes from @src to the next bytes of the list and advance
 * @c:		cursor
 * @src:	source
 * @len:	bytes
 *
 * Return: as rxe_sg_read().
 */
static inline int rxe_sg_write(struct rxe_sg_cursor *c, const void *src, unsigned int len)
{
	u8 *dst = rxe_sg_next(c, len);

	if (!dst)
		return rxe_sg_write_pieces(c, src, len);
	rxe_memcpy(dst, src, len);
	return 0;
}

/**
 * rxe_sg_check - can all of the list be accessed?
 * @pd:		PD that the keys must belong to
 * @sge:	the list, in kernel memory
 * @num_sge:	its length
 * @access:	rights that are needed
 *
 * Looks every key up without copying, but for SGEs of length 0, whose key
 * does not matter anywhere.
 *
 * Return: 0, or the error of the first SGE that rxe_mr_get() refuses.
 */
int rxe_sg_check(struct rxe_pd *pd, const struct ib_sge *sge, unsigned int num_sge, int access);

/**
 * rxe_sg_wait - after -EAGAIN, what to wait for
 * @c:		cursor
 * @f:		the executor's
 *
 * Return: as rxe_fault_wait().
 */
int rxe_sg_wait(const struct rxe_sg_cursor *c, struct rxe_fault *f);

/**
 * rxe_sg_release - drop the MR that the cursor holds
 * @c:		cursor; any function may be called on it again
 */
void rxe_sg_release(struct rxe_sg_cursor *c);

#endif /* RXE_COPY_H */
