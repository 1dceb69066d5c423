// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* compat/rxe_compat_crc32.c against the CRC bit by bit. */
#include <linux/crc32.h>
#include <stdlib.h>

#include "ktap.h"

bool unit_fpu_usable = true;
unsigned int unit_fpu_depth;

static u64 state = 1;

static void compare(unsigned int max, unsigned int step)
{
	for (unsigned int len = 0; len <= max; len += step) {
		for (unsigned int shift = 0; shift < 17; shift += 1 + (len > 300) * 4) {
			u8 *buf = exact_alloc(len + shift);
			u32 seed = 0x9e3779b9u * (len + 1), want, got;

			for (unsigned int i = 0; i < len + shift; i++)
				buf[i] = next_random(&state);
			want = crc32_le(seed, buf + shift, len);
			got = compat_crc32_le(seed, buf + shift, len);
			CHECK(got == want, "%u bytes, %u off: %08x, not %08x", len, shift, got,
			      want);
			free(buf);
		}
	}
	CHECK(!unit_fpu_depth, "the FPU is still in use");
}

static void each_length(void)
{
	compare(400, 1);
}

static void long_ones(void)
{
	compare(9000, 499);
	compare(4160, 64);
}

static void without_fpu(void)
{
	unit_fpu_usable = false;
	compare(600, 7);
	unit_fpu_usable = true;
}

static const struct ktap_test tests[] = {
	{ "each length", each_length },
	{ "long ones", long_ones },
	{ "where the FPU cannot be used", without_fpu },
};

int main(void)
{
	return ktap_run(tests, ARRAY_SIZE(tests));
}
