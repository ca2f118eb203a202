/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"
#include <stdlib.h>

#define ALIGN 64u

void *fuzz_memory(size_t size)
{
	static void *memory;
	static size_t last;

	if (size == last)
		return memory;
	free(memory);
	memory = aligned_alloc(ALIGN, (size + ALIGN - 1) / ALIGN * ALIGN);
	if (memory == NULL)
		abort();
	last = size;
	return memory;
}
