/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _COMPAT_LINUX_COMPILER_ATTRIBUTES_H
#define _COMPAT_LINUX_COMPILER_ATTRIBUTES_H

#include_next <linux/compiler_attributes.h>

#ifndef __uninitialized
#if __has_attribute(__uninitialized__)
#define __uninitialized	__attribute__((__uninitialized__))
#else
#define __uninitialized
#endif
#endif

#endif /* _COMPAT_LINUX_COMPILER_ATTRIBUTES_H */
