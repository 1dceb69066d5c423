// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The one range check against arithmetic that cannot wrap. */
#include "ktap.h"
#include "rxe_access.h"

typedef unsigned __int128 wide;

static bool agrees(u64 start, u64 size, u64 addr, u64 len)
{
	bool want = addr >= start && (wide)addr + len <= (wide)start + size;

	CHECK(rxe_range_ok(start, size, addr, len) == want,
	      "start %llx size %llx addr %llx len %llx", (unsigned long long)start,
	      (unsigned long long)size, (unsigned long long)addr, (unsigned long long)len);
	return true;
}

static const u64 corners[] = {
	0, 1, 2, 7, 8, 4095, 4096, 4097,
	0x7ffffffful, 0x80000000ul, 0xfffffffful, 0x100000000ul, 0x100000001ul,
	0x7ffffffffffffffful, 0x8000000000000000ul, 0x8000000000000001ul,
	-4097ul, -4096ul, -4095ul, -8ul, -2ul, -1ul,
};

static bool all_corners(void)
{
	const unsigned int n = ARRAY_SIZE(corners);

	for (unsigned int i = 0; i < n * n * n * n; i++)
		if (!agrees(corners[i % n], corners[i / n % n], corners[i / n / n % n],
			    corners[i / n / n / n]))
			return false;
	return true;
}

/* Around both ends of a range that was drawn. */
static bool random_ranges(void)
{
	u64 seed = 2;

	for (int i = 0; i < 1000000; i++) {
		u64 start = next_random(&seed) >> next_random(&seed) % 64;
		u64 size = next_random(&seed) >> next_random(&seed) % 64;
		u64 r = next_random(&seed);
		u64 addr = (r & 1 ? start : start + size) + r % 16 - 8;
		u64 len = r & 2 ? size + (r >> 8) % 16 - 8 : (r >> 8) % 16;

		if (!agrees(start, size, addr, len))
			return false;
	}
	return true;
}

static bool zero_length(void)
{
	CHECK(rxe_range_ok(0x1000, 0x1000, 0x1000, 0), "");
	CHECK(rxe_range_ok(0x1000, 0x1000, 0x2000, 0), "the end is still inside");
	CHECK(!rxe_range_ok(0x1000, 0x1000, 0x2001, 0), "");
	CHECK(!rxe_range_ok(0x1000, 0x1000, 0xfff, 0), "");
	return true;
}

static const struct ktap_test tests[] = {
	{ "all corner values of all four arguments", all_corners },
	{ "a million ranges, around both ends", random_ranges },
	{ "zero length", zero_length },
};

KTAP_MAIN(tests)
