/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_CRC32_H
#define _COMPAT_LINUX_CRC32_H

#include_next <linux/crc32.h>

#ifndef HAVE_CRC32_OPTIMIZED
u32 compat_crc32_le(u32 crc, const void *p, size_t len);

#define crc32_le(crc, p, len)	compat_crc32_le(crc, p, len)
#endif

#endif /* _COMPAT_LINUX_CRC32_H */
