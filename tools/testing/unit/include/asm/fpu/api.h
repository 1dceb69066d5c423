/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _UNIT_ASM_FPU_API_H
#define _UNIT_ASM_FPU_API_H

#include <stdbool.h>

extern bool unit_fpu_usable;
extern unsigned int unit_fpu_depth;

static inline bool irq_fpu_usable(void)
{
	return unit_fpu_usable;
}

static inline void kernel_fpu_begin(void)
{
	unit_fpu_depth++;
}

static inline void kernel_fpu_end(void)
{
	unit_fpu_depth--;
}

#endif /* _UNIT_ASM_FPU_API_H */
