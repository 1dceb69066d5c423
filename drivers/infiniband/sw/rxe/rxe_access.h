/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* May this key touch these bytes?  The one place that decides. */
#ifndef RXE_ACCESS_H
#define RXE_ACCESS_H

#include <linux/types.h>

struct rxe_mr;
struct rxe_mw;
struct rxe_pd;
struct rxe_qp;

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
 * @key:	lkey, or rkey of an MR
 * @access:	the IB_ACCESS_* rights that are needed, all of them; 0 for a local read
 * @va:		first byte
 * @len:	bytes
 *
 * Context: any with BH disabled, or process.
 * Return: the MR with a reference, to be dropped with rxe_mr_put();
 * ERR_PTR(-EINVAL) no such key, ERR_PTR(-EPERM) it is of another PD,
 * ERR_PTR(-EACCES) rights missing, ERR_PTR(-ERANGE) the range is not within
 * the MR.
 */
struct rxe_mr *rxe_mr_get(struct rxe_pd *pd, u32 key, int access, u64 va, u64 len);

/**
 * rxe_mr_check - does an MR that the caller holds allow an access, too?
 * @mr:		MR that no WR may invalidate meanwhile (rxe_mr_is_transient())
 * @pd:		as for rxe_mr_get(), and the others
 *
 * Context: as rxe_mr_get().
 * Return: 0, or an error as rxe_mr_get() has it; -EINVAL also: it is the MR of another key.
 */
int rxe_mr_check(const struct rxe_mr *mr, const struct rxe_pd *pd, u32 key, int access,
		 u64 va, u64 len);

/**
 * struct rxe_mem - memory that a remote key reaches
 * @mr:		where it is
 * @mw:		the window whose key it is, or NULL
 * @start:	first address that goes with the key
 * @size:	bytes
 * @delta:	from an address that goes with the key to one of @mr
 *
 * Holds a reference on @mw, which keeps @mr, or else on @mr.
 */
struct rxe_mem {
	struct rxe_mr	*mr;
	struct rxe_mw	*mw;
	u64		start;
	u64		size;
	u64		delta;
};

/**
 * rxe_mem_get - find what the key of a peer reaches and check the access
 * @qp:		where the request came in
 * @key:	rkey of an MR or an MW
 * @access:	the IB_ACCESS_REMOTE_* and IB_ACCESS_FLUSH_* rights that are needed
 * @va:		first byte
 * @len:	bytes
 * @mem:	result, to be dropped with rxe_mem_put()
 *
 * Context: BH disabled.
 * Return: 0, or an error as from rxe_mr_get(): @mem->mr is NULL then.
 */
int rxe_mem_get(struct rxe_qp *qp, u32 key, int access, u64 va, u64 len, struct rxe_mem *mem);

/* As rxe_mem_get(), for all that the key of an MR reaches. */
int rxe_mem_get_whole(struct rxe_qp *qp, u32 key, int access, struct rxe_mem *mem);

/**
 * rxe_access_refused - tell that a key does not allow an access
 * @qp:		QP
 * @remote:	of the peer; else of a work request of this QP, which is counted
 * @key:	lkey or rkey; 0: the list of SGEs is too short
 * @va:		first byte
 * @len:	bytes
 * @err:	as rxe_mr_get() and others return it
 *
 * Context: any.
 */
void rxe_access_refused(const struct rxe_qp *qp, bool remote, u32 key, u64 va, u64 len, int err);

/* Nothing happens when @mem holds nothing. */
void rxe_mem_put(struct rxe_mem *mem);

/**
 * rxe_mem_is_transient - may a WR take this memory away?
 *
 * Whoever invalidates waits for the holders, in softirq: they keep it for one
 * copy only, and never while they wait.  All others keep theirs for one run of
 * an executor at the most.
 */
bool rxe_mem_is_transient(const struct rxe_mem *mem);

/**
 * rxe_key_may_invalidate - may a peer's SEND invalidate this key?
 * @qp:		where it came in
 * @key:	rkey
 *
 * IBTA 10.6.5: a type 2 window that is bound to this QP, or a fast-registration
 * MR of its PD that has remote rights; and it is valid.
 *
 * Context: BH disabled.
 * Return: true if it may.
 */
bool rxe_key_may_invalidate(struct rxe_qp *qp, u32 key);

/**
 * rxe_key_invalidate - carry out LOCAL INVALIDATE or that of a peer's SEND
 * @qp:		QP
 * @key:	lkey or rkey
 * @remote:	for a peer: as rxe_key_may_invalidate() has it.  Else a type 2
 *		window or a fast-registration MR that is invalid already will do
 *
 * When it returns 0, nothing is read or written through the key any more.
 *
 * Context: BH disabled; the caller holds no transient memory.
 * Return: 0, -EINVAL no such key here, -EACCES it may not.
 */
int rxe_key_invalidate(struct rxe_qp *qp, u32 key, bool remote);

#endif /* RXE_ACCESS_H */
