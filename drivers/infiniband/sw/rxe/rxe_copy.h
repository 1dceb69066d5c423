/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copies between packets and registered memory. */
#ifndef RXE_COPY_H
#define RXE_COPY_H

#include <linux/string.h>
#include <rdma/ib_verbs.h>

struct rxe_fault;
struct rxe_mr;
struct rxe_pd;
struct rxe_qp;

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
 * rxe_mr_read_many - copy out of an MR, to packets of equal length
 * @mr:		held by the caller, range checked by rxe_mr_get()
 * @va:		first byte
 * @dst:	payload of the first packet
 * @len:	bytes of each packet's payload
 * @stride:	bytes from one packet's payload to the next one's
 * @num:	number of packets
 *
 * Context: BH disabled.
 * Return: how many packets are filled; fewer than @num: for the next one a page
 * must be faulted in first, see rxe_odp.h; part of it may have been written.
 */
unsigned int rxe_mr_read_many(const struct rxe_mr *mr, u64 va, u8 *dst, unsigned int len,
			      unsigned int stride, unsigned int num);

/**
 * rxe_mr_write_many - copy into an MR, from packets of equal length
 * @mr:		as for rxe_mr_read_many(), as the others
 * @va:		first byte
 * @src:	payload of the first packet
 * @len:	bytes of each packet's payload
 * @stride:	bytes from one packet's payload to the next one's
 * @num:	number of packets
 *
 * Context: BH disabled.
 * Return: how many packets are stored, as rxe_mr_read_many().
 */
unsigned int rxe_mr_write_many(const struct rxe_mr *mr, u64 va, const u8 *src, unsigned int len,
			       unsigned int stride, unsigned int num);

/* One packet of rxe_mr_read_many().  Return: 0; -EAGAIN: a page must be faulted in first. */
static inline int rxe_mr_read(const struct rxe_mr *mr, u64 va, void *dst, unsigned int len)
{
	return rxe_mr_read_many(mr, va, dst, len, len, 1) ? 0 : -EAGAIN;
}

/* As rxe_mr_read(), into the MR. */
static inline int rxe_mr_write(const struct rxe_mr *mr, u64 va, const void *src, unsigned int len)
{
	return rxe_mr_write_many(mr, va, src, len, len, 1) ? 0 : -EAGAIN;
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
 * @spare:	MR of an earlier SGE, likewise: mostly the next one is in it too
 * @run:	bytes of the copy under way
 *
 * Lives on an executor's stack: an MR is held for one run at the most, so
 * that dereg_mr never waits for a peer; a transient one for one call.
 */
struct rxe_sg_cursor {
	struct rxe_pd		*pd;
	const struct ib_sge	*sge;
	unsigned int		num_sge;
	int			access;
	unsigned int		cur;
	u32			off;
	struct rxe_mr		*mr;
	struct rxe_mr		*spare;
	u32			run;
};

/**
 * rxe_sg_start - go to a byte of a list
 * @c:		cursor, zeroed or used for another list before
 * @pd:		PD that the keys must belong to
 * @sge:	the list, in kernel memory; must outlive the cursor's use
 * @num_sge:	its length
 * @access:	rights that every copy needs
 * @offset:	bytes, counted from the start of the list; one behind the end leaves the
 *		cursor at the end
 *
 * Takes no reference yet, but keeps what it has; rxe_sg_release() ends it.
 */
void rxe_sg_start(struct rxe_sg_cursor *c, struct rxe_pd *pd, const struct ib_sge *sge,
		  unsigned int num_sge, int access, u64 offset);

/**
 * rxe_sg_read_many - copy the next bytes of the list to packets of equal length, and advance
 * @c:		cursor
 * @dst:	payload of the first packet
 * @len:	bytes of each packet's payload
 * @stride:	bytes from one packet's payload to the next one's
 * @num:	number of packets
 * @err:	result: 0; why the next packet could not be filled: -EINVAL, -EACCES
 *		or -ERANGE as rxe_mr_get(), or -ERANGE at the end of the list;
 *		-EAGAIN: a page must be faulted in first, rxe_sg_wait() tells which
 *
 * After an error the cursor's place is of no use for another copy.
 *
 * Return: how many packets are filled, @num unless there is an error.
 */
unsigned int rxe_sg_read_many(struct rxe_sg_cursor *c, u8 *dst, unsigned int len,
			      unsigned int stride, unsigned int num, int *err);

/* As rxe_sg_read_many(), from packets to the list. */
unsigned int rxe_sg_write_many(struct rxe_sg_cursor *c, const u8 *src, unsigned int len,
			       unsigned int stride, unsigned int num, int *err);

/* One packet of rxe_sg_write_many().  Return: 0, or its error. */
static inline int rxe_sg_write(struct rxe_sg_cursor *c, const void *src, unsigned int len)
{
	int err;

	rxe_sg_write_many(c, src, len, len, 1, &err);
	return err;
}

/**
 * rxe_sg_check - can all of the list be accessed?
 * @pd:		PD that the keys must belong to
 * @sge:	the list, in kernel memory
 * @num_sge:	its length
 * @access:	rights that are needed
 * @bad:	result, when there is an error: index of the SGE
 *
 * Looks every key up without copying, but for SGEs of length 0, whose key
 * does not matter anywhere.
 *
 * Return: 0, or the error of the first SGE that rxe_mr_get() refuses.
 */
int rxe_sg_check(struct rxe_pd *pd, const struct ib_sge *sge, unsigned int num_sge, int access,
		 unsigned int *bad);

/**
 * rxe_sg_refused - tell of the SGE that a copy has failed at
 * @c:		cursor
 * @qp:		whose work request it is
 * @err:	as the copy or rxe_sg_wait() has it, not -EAGAIN
 */
void rxe_sg_refused(const struct rxe_sg_cursor *c, const struct rxe_qp *qp, int err);

/**
 * rxe_sg_wait - after -EAGAIN, what to wait for
 * @c:		cursor
 * @f:		the executor's
 *
 * Return: as rxe_fault_wait().
 */
int rxe_sg_wait(const struct rxe_sg_cursor *c, struct rxe_fault *f);

/**
 * rxe_sg_release - drop the MRs that the cursor holds
 * @c:		cursor; any function may be called on it again
 */
void rxe_sg_release(struct rxe_sg_cursor *c);

#endif /* RXE_COPY_H */
