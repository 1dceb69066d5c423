// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* PSN arithmetic modulo 2^24 against plain arithmetic in 64 bits. */
#include <rdma/roce_psn.h>

#include "ktap.h"

#define SPACE	0x1000000ll

static const u32 corners[] = {
	0, 1, 2, 3, 0xff, 0x100, 0xffff, 0x10000, 0x3fffff, 0x400000, 0x7ffffe, 0x7fffff,
	0x800000, 0x800001, 0xbfffff, 0xc00000, 0xfffffd, 0xfffffe, 0xffffff,
};

/* The representative of @d modulo 2^24 in -2^23 .. 2^23-1. */
static s64 wrapped(s64 d)
{
	while (d >= SPACE / 2)
		d -= SPACE;
	while (d < -SPACE / 2)
		d += SPACE;
	return d;
}

static void pair(u32 a, u32 b)
{
	struct roce_psn pa = roce_psn(a), pb = roce_psn(b);
	s64 d = wrapped((s64)a - b);

	CHECK(roce_psn_diff(pa, pb) == d, "%06x - %06x: %d", a, b, roce_psn_diff(pa, pb));
	CHECK(roce_psn_eq(pa, pb) == (a == b), "%06x %06x", a, b);
	CHECK(roce_psn_after(pa, pb) == (d > 0), "%06x %06x", a, b);
	CHECK(roce_psn_before(pa, pb) == (d < 0), "%06x %06x", a, b);
	CHECK(roce_psn_eq(roce_psn_add(pb, d), pa), "%06x + %lld", b, (long long)d);
}

static void all_corners(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(corners); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(corners); j++)
			pair(corners[i], corners[j]);
}

static void random_pairs(void)
{
	u64 seed = 1;

	for (int i = 0; i < 1000000; i++) {
		u64 r = next_random(&seed);

		pair(r & 0xffffff, r >> 40);
	}
}

static void masked(void)
{
	CHECK(roce_psn(0xffffffff).v == 0xffffff, "");
	CHECK(roce_psn(0x01000000).v == 0, "");
	CHECK(roce_psn(0xab123456).v == 0x123456, "");
}

static void add(void)
{
	static const s32 steps[] = {
		0, 1, -1, 1000, -1000, 0x7fffff, -0x800000, 0xffffff, 0x1000000, -0x1000000,
		0x7fffffff, -0x7fffffff - 1,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(corners); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(steps); j++) {
			u32 sum = roce_psn_add(roce_psn(corners[i]), steps[j]).v;
			s64 want = ((corners[i] + (s64)steps[j]) % SPACE + SPACE) % SPACE;

			CHECK(sum == want, "%06x + %d: %06x", corners[i], steps[j], sum);
		}
	}
}

static const struct ktap_test tests[] = {
	{ "a PSN has 24 bits", masked },
	{ "addition wraps, both ways", add },
	{ "difference and order of all corner values", all_corners },
	{ "difference and order of a million random pairs", random_pairs },
};

int main(void)
{
	return ktap_run(tests, ARRAY_SIZE(tests));
}
