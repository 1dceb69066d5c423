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
 *
 * Atomic for the CPUs of this host and for the other QPs of all devices.
 *
 * Context: any.
 * Return: what was there before, host order.
 */
u64 rxe_mr_atomic(const struct rxe_mr *mr, const struct rxe_pkt *pkt);

#endif /* RXE_ATOMIC_H */
