/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Memory for one engine at a time, of exactly the size asked for: ASan reports accesses beyond it.
 * A call with the same size as the last one returns the same memory, with its old contents. So
 * inputs do not cost new pages. Never returns NULL.
 */
#include <stddef.h>

void *fuzz_memory(size_t size);
