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
 * @pkt:	COMPARE SWAP or FETCH ADD; its @va is a multiple of eight
 * @orig:	result: what was there before, host order
 *
 * Atomic for the CPUs of this host and for the other QPs of all devices.
 *
 * Context: BH disabled.
 * Return: 0; -EAGAIN as rxe_mr_read(), or -EINVAL where the memory behind
 * the address is not aligned, and nothing was done.
 */
int rxe_mr_atomic(const struct rxe_mr *mr, const struct rxe_pkt *pkt, u64 *orig);

#endif /* RXE_ATOMIC_H */
