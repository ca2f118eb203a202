/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_FUZZ_MEMORY_H
#define HP3_TESTS_FUZZ_MEMORY_H
/*
 * Memory for one engine at a time, of exactly the size asked for, so that ASan sees the first byte
 * beyond. While the size is the same, so is the memory, with the contents that the last engine
 * left: new pages for each input took a third of a fuzzer's time. Never NULL.
 */
#include <stddef.h>

void *fuzz_memory(size_t size);

#endif
