/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_STRING_H
#define _COMPAT_LINUX_STRING_H

#include_next <linux/string.h>

#ifndef HAVE_STRSCPY_2
/* The size may be left out when the destination is an array. */
#define __compat_strscpy2(dst, src) \
	strscpy(dst, src, sizeof(dst) + __must_be_array(dst))
#define __compat_strscpy3(dst, src, size) strscpy(dst, src, size)
#define strscpy(dst, ...) \
	CONCATENATE(__compat_strscpy, COUNT_ARGS(dst, __VA_ARGS__))(dst, __VA_ARGS__)
#endif

#endif /* _COMPAT_LINUX_STRING_H */
