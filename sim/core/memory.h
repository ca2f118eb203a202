/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CORE_MEMORY_H
#define HP3_SIM_CORE_MEMORY_H
/*
 * Memory of a run. A simulation that runs out of memory has no result: these end the program with
 * a message that says what would help, so that callers need no path for it.
 *
 * Pools hold objects of one size (packets, flows), taken and given back in any order, last in
 * first out so that they stay in the cache. Objects are aligned to 16 bytes and never move.
 */
#include <stddef.h>
#include <stdint.h>

void *sim_alloc(size_t n, size_t size); /* zeroed; n * size must not overflow */
void *sim_realloc(void *p, size_t size);

struct sim_pool {
	size_t size;
	void *free; /* list through the first word */
	char *slab; /* current slab: what was never used */
	size_t slab_left;
	void *slabs; /* list of all */
	uint32_t used, peak;
};

void sim_pool_init(struct sim_pool *p, size_t size);
void *sim_pool_get(struct sim_pool *p); /* contents undefined */
void sim_pool_put(struct sim_pool *p, void *obj);
void sim_pool_free(struct sim_pool *p);

#endif
