/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's types in user space; attributes come from the Makefile. */
#ifndef _UNIT_LINUX_TYPES_H
#define _UNIT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* _UNIT_LINUX_TYPES_H */
