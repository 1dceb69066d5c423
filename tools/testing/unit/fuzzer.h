/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What libFuzzer calls, and what it offers. */
#ifndef UNIT_FUZZER_H
#define UNIT_FUZZER_H

#include <stddef.h>
#include <linux/types.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t len, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(u8 *data, size_t len, size_t max);

#endif /* UNIT_FUZZER_H */
