/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Memory of a run. If no memory is left, these functions print a message that names a remedy, and
 * end the program. So callers need no error path.
 *
 * A pool has objects of one size, such as packets or flows. The caller takes and returns objects in
 * any order. The pool gives out first the object that was returned last, because this object is
 * still in the cache. Objects are aligned to 16 bytes, and never move.
 */
#include <stddef.h>
#include <stdint.h>

void *sim_alloc(size_t n, size_t size); /* zeroed; n * size must not overflow */
void *sim_realloc(void *p, size_t size);

struct sim_pool {
	size_t size;
	void *free; /* list, linked by the first word */
	char *slab; /* unused rest of the current slab */
	size_t slab_left;
	void *slabs; /* list of all slabs */
	uint32_t used, peak;
};

void sim_pool_init(struct sim_pool *p, size_t size);
void *sim_pool_get(struct sim_pool *p); /* contents undefined */
void sim_pool_put(struct sim_pool *p, void *obj);
void sim_pool_free(struct sim_pool *p);
