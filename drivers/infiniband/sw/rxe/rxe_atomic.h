/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomic operations on registered memory. */
#ifndef RXE_ATOMIC_H
#define RXE_ATOMIC_H

#include <linux/types.h>

struct rxe_mr;
struct rxe_pkt;

/**
 * rxe_mr_atomic - carry an atomic request out
 * @mr:		held by the caller, range checked by rxe_mr_get()
 * @va:		eight aligned bytes (rxe_mr_is_aligned())
 * @pkt:	COMPARE SWAP or FETCH ADD
 * @orig:	result: what was there before, host order
 *
 * Atomic for the CPUs of this host and for the other QPs of all devices.
 *
 * Context: BH disabled.
 * Return: 0; -EAGAIN as rxe_mr_read(), and nothing was done.
 */
int rxe_mr_atomic(const struct rxe_mr *mr, u64 va, const struct rxe_pkt *pkt, u64 *orig);

/**
 * rxe_mr_atomic_write - carry an ATOMIC WRITE out
 * @mr:		as for rxe_mr_atomic()
 * @va:		likewise
 * @data:	eight bytes
 *
 * Nobody sees a part of them, nor what was written before without them later.
 *
 * Context: BH disabled.
 * Return: as rxe_mr_atomic().
 */
int rxe_mr_atomic_write(const struct rxe_mr *mr, u64 va, const u8 *data);

#endif /* RXE_ATOMIC_H */
