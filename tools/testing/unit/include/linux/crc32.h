/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The CRC of Ethernet bit by bit: slow and plain. */
#ifndef _UNIT_LINUX_CRC32_H
#define _UNIT_LINUX_CRC32_H

#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void *p, size_t len)
{
	const u8 *byte = p;

	while (len--) {
		crc ^= *byte++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* compat/rxe_compat_crc32.c */
u32 compat_crc32_le(u32 crc, const void *p, size_t len);

#endif /* _UNIT_LINUX_CRC32_H */
