/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packet sequence numbers: 24 bits, compared modulo 2^24 (IBTA 9.7.1).
 *
 * A PSN is a struct so that the compiler refuses plain arithmetic and plain
 * comparison.  No kernel object is used here: the unit tests include it too.
 */
#ifndef _RDMA_ROCE_PSN_H
#define _RDMA_ROCE_PSN_H

#include <linux/types.h>

#define ROCE_PSN_BITS	24
#define ROCE_PSN_MASK	((1u << ROCE_PSN_BITS) - 1)

/**
 * struct roce_psn - a packet sequence number
 * @v: the value, always within 24 bits
 */
struct roce_psn {
	u32 v;
};

static inline struct roce_psn roce_psn(u32 v)
{
	return (struct roce_psn){ .v = v & ROCE_PSN_MASK };
}

/* The PSN @n packets after @p; @n may be negative. */
static inline struct roce_psn roce_psn_add(struct roce_psn p, s32 n)
{
	return roce_psn(p.v + (u32)n);
}

/* Distance from @b to @a, -2^23 .. 2^23-1: positive when @a comes later. */
static inline s32 roce_psn_diff(struct roce_psn a, struct roce_psn b)
{
	return (s32)((a.v - b.v) << (32 - ROCE_PSN_BITS)) >> (32 - ROCE_PSN_BITS);
}

static inline bool roce_psn_eq(struct roce_psn a, struct roce_psn b)
{
	return a.v == b.v;
}

static inline bool roce_psn_after(struct roce_psn a, struct roce_psn b)
{
	return roce_psn_diff(a, b) > 0;
}

static inline bool roce_psn_before(struct roce_psn a, struct roce_psn b)
{
	return roce_psn_diff(a, b) < 0;
}

#endif /* _RDMA_ROCE_PSN_H */
