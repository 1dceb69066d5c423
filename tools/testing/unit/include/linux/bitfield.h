/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The two macros that are used, for constant masks. */
#ifndef _UNIT_LINUX_BITFIELD_H
#define _UNIT_LINUX_BITFIELD_H

#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> __builtin_ctz(mask))
#define FIELD_PREP(mask, val)	(((val) << __builtin_ctz(mask)) & (mask))

#endif /* _UNIT_LINUX_BITFIELD_H */
