/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* May this key touch these bytes?  The one place that decides. */
#ifndef RXE_ACCESS_H
#define RXE_ACCESS_H

#include <linux/types.h>

struct rxe_mr;
struct rxe_pd;

/**
 * rxe_range_ok - does [addr, addr + len) lie within [start, start + size)?
 * @start:	first byte of the object
 * @size:	its bytes
 * @addr:	first byte of the access
 * @len:	its bytes
 *
 * The range check of every path: nothing wraps, whatever the four values are.
 * A zero length fits anywhere within, the end included.
 *
 * Return: true if it does.
 */
static inline bool rxe_range_ok(u64 start, u64 size, u64 addr, u64 len)
{
	return addr >= start && addr - start <= size && len <= size - (addr - start);
}

/**
 * rxe_mr_get - find the MR of a key and check an access through it
 * @pd:		the PD of the QP
 * @key:	lkey or rkey
 * @access:	the IB_ACCESS_* rights that are needed, all of them; 0 for a local read
 * @va:		first byte
 * @len:	bytes
 *
 * Context: any with BH disabled, or process.
 * Return: the MR with a reference, to be dropped with rxe_mr_put();
 * ERR_PTR(-EINVAL) no such key in this PD, ERR_PTR(-EACCES) rights missing,
 * ERR_PTR(-ERANGE) the range is not within the MR.
 */
struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va, u64 len);

#endif /* RXE_ACCESS_H */
