/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef _UNIT_ASM_CPUFEATURE_H
#define _UNIT_ASM_CPUFEATURE_H

#include <stdbool.h>

#define X86_FEATURE_PCLMULQDQ	__builtin_cpu_supports("pclmul")
#define X86_FEATURE_AVX		__builtin_cpu_supports("avx")
#define boot_cpu_has(feature)	(feature)

#endif /* _UNIT_ASM_CPUFEATURE_H */
