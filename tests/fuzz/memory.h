/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_FUZZ_MEMORY_H
#define HP3_TESTS_FUZZ_MEMORY_H
/*
 * Memory for one engine at a time, of exactly the size asked for: ASan reports accesses beyond it.
 * If the size is that of the last call, the same memory is returned, with its old contents. This
 * saves new pages for each input. Never NULL.
 */
#include <stddef.h>

void *fuzz_memory(size_t size);

#endif
