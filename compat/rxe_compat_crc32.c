// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * crc32_le() with carry-less multiplication, as newer kernels have it in
 * lib/crc. The crypto API of older ones has it too, as a module of its own
 * that need not be there. Empty where crc32_le() is fast.
 */
#include <linux/crc32.h>

#ifndef HAVE_CRC32_OPTIMIZED

#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

/* Shorter ones are not worth the FPU. */
#define CLMUL_MIN	128

/*
 * x^(512+32), x^(512-32) and x^(128+32), x^(128-32) modulo the polynomial, bits
 * reflected: what a part of the sum is worth that many bits further on. From
 * Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009.
 */
static const u64 fold_64[2] __aligned(16) = { 0x154442bd4, 0x1c6e41596 };
static const u64 fold_16[2] __aligned(16) = { 0x1751997d0, 0x0ccaa009e };

/* acc = acc carried on by the distance of xmm4, plus @data; uses xmm5 */
#define FOLD(acc, data)						\
	"vpclmulqdq $0x00, %%xmm4, " acc ", %%xmm5\n\t"		\
	"vpclmulqdq $0x11, %%xmm4, " acc ", " acc "\n\t"	\
	"vpxor " data ", " acc ", " acc "\n\t"			\
	"vpxor %%xmm5, " acc ", " acc "\n\t"

/*
 * Sixteen bytes that have the CRC of all of @p, of @len bytes: at least 64, a
 * multiple of 16. Between kernel_fpu_begin() and _end(): the compiler, told to
 * use no such register, cannot be told that they change.
 */
static void crc32_fold(u32 crc, const u8 *p, size_t len, u8 rest[16])
{
	const u8 *end = p + len;

	asm volatile("vmovd %k[crc], %%xmm5\n\t"
		     "vmovdqu (%[p]), %%xmm0\n\t"
		     "vmovdqu 16(%[p]), %%xmm1\n\t"
		     "vmovdqu 32(%[p]), %%xmm2\n\t"
		     "vmovdqu 48(%[p]), %%xmm3\n\t"
		     "vpxor %%xmm5, %%xmm0, %%xmm0\n\t"
		     "vmovdqa %[fold_64], %%xmm4\n\t"
		     "add $64, %[p]\n\t"
		     "sub $64, %[end]\n\t"
		     "cmp %[end], %[p]\n\t"
		     "ja 2f\n"
		     "1:\t"
		     FOLD("%%xmm0", "(%[p])")
		     FOLD("%%xmm1", "16(%[p])")
		     FOLD("%%xmm2", "32(%[p])")
		     FOLD("%%xmm3", "48(%[p])")
		     "add $64, %[p]\n\t"
		     "cmp %[end], %[p]\n\t"
		     "jbe 1b\n"
		     "2:\t"
		     "vmovdqa %[fold_16], %%xmm4\n\t"
		     FOLD("%%xmm0", "%%xmm1")
		     FOLD("%%xmm0", "%%xmm2")
		     FOLD("%%xmm0", "%%xmm3")
		     "add $64, %[end]\n\t"
		     "cmp %[end], %[p]\n\t"
		     "je 4f\n"
		     "3:\t"
		     FOLD("%%xmm0", "(%[p])")
		     "add $16, %[p]\n\t"
		     "cmp %[end], %[p]\n\t"
		     "jb 3b\n"
		     "4:\t"
		     "vmovdqu %%xmm0, %[rest]\n\t"
		     : [p] "+r" (p), [end] "+r" (end), [rest] "=m" (*(u8 (*)[16])rest)
		     : [crc] "r" (crc), [fold_64] "m" (fold_64), [fold_16] "m" (fold_16)
		     : "memory", "cc");
}

static bool crc32_can_fold(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) && boot_cpu_has(X86_FEATURE_AVX) &&
	       irq_fpu_usable();
}

/**
 * compat_crc32_le() - CRC of Ethernet, least significant bit first
 * @crc: of what came before, ~0 at first
 * @p: bytes
 * @len: their number
 *
 * Context: any.
 * Return: the CRC, not inverted.
 */
u32 compat_crc32_le(u32 crc, const void *p, size_t len)
{
	size_t folded = len & ~15UL;
	u8 rest[16];

	if (len < CLMUL_MIN || !crc32_can_fold())
		return (crc32_le)(crc, p, len);

	kernel_fpu_begin();
	crc32_fold(crc, p, folded, rest);
	kernel_fpu_end();
	crc = (crc32_le)(0, rest, sizeof(rest));
	return (crc32_le)(crc, p + folded, len - folded);
}

#else

u32 compat_crc32_le(u32 crc, const void *p, size_t len)
{
	return (crc32_le)(crc, p, len);
}
#endif

#endif
