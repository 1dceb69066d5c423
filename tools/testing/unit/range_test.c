// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The one range check against arithmetic that cannot wrap. */
#include "ktap.h"
#include "rxe_access.h"

/* @n in 128 bits, where sums of u64 have room. */
#define WIDE(n)	((__uint128_t)(n))

static void agrees(u64 start, u64 size, u64 addr, u64 len)
{
	bool want = addr >= start && WIDE(addr) + len <= WIDE(start) + size;

	CHECK(rxe_range_ok(start, size, addr, len) == want,
	      "start %llx size %llx addr %llx len %llx", (unsigned long long)start,
	      (unsigned long long)size, (unsigned long long)addr, (unsigned long long)len);
}

static const u64 corners[] = {
	0, 1, 2, 7, 8, 4095, 4096, 4097,
	0x7ffffffful, 0x80000000ul, 0xfffffffful, 0x100000000ul, 0x100000001ul,
	0x7ffffffffffffffful, 0x8000000000000000ul, 0x8000000000000001ul,
	-4097ul, -4096ul, -4095ul, -8ul, -2ul, -1ul,
};

static void all_corners(void)
{
	const unsigned int n = ARRAY_SIZE(corners);

	for (unsigned int i = 0; i < n * n * n * n; i++)
		agrees(corners[i % n], corners[i / n % n], corners[i / n / n % n],
		       corners[i / n / n / n]);
}

/* Around both ends of a range that was drawn. */
static void random_ranges(void)
{
	u64 seed = 2;

	for (int i = 0; i < 1000000; i++) {
		u64 start = next_random(&seed) >> next_random(&seed) % 64;
		u64 size = next_random(&seed) >> next_random(&seed) % 64;
		u64 r = next_random(&seed);
		u64 addr = (r & 1 ? start : start + size) + r % 16 - 8;
		u64 len = r & 2 ? size + (r >> 8) % 16 - 8 : (r >> 8) % 16;

		agrees(start, size, addr, len);
	}
}

static void zero_length(void)
{
	CHECK(rxe_range_ok(0x1000, 0x1000, 0x1000, 0), "");
	CHECK(rxe_range_ok(0x1000, 0x1000, 0x2000, 0), "the end is still inside");
	CHECK(!rxe_range_ok(0x1000, 0x1000, 0x2001, 0), "");
	CHECK(!rxe_range_ok(0x1000, 0x1000, 0xfff, 0), "");
}

static const struct ktap_test tests[] = {
	{ "all corner values of all four arguments", all_corners },
	{ "a million ranges, around both ends", random_ranges },
	{ "zero length", zero_length },
};

int main(void)
{
	return ktap_run(tests, ARRAY_SIZE(tests));
}
