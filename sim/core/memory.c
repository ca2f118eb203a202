/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "sim/core/memory.h"

#define SLAB_BYTES (256u << 10)
#define SLAB_HEAD  16u /* link to the slab before */

static void *require_memory(void *p, size_t size)
{
	if (p != NULL)
		return p;
	fprintf(stderr,
		"hp3-sim: no memory for %zu more bytes: use a smaller topology, fewer flows, or "
		"more memory\n",
		size);
	exit(1);
}

void *sim_alloc(size_t n, size_t size)
{
	return require_memory(calloc(n > 0 ? n : 1, size > 0 ? size : 1), n * size);
}

void *sim_realloc(void *p, size_t size)
{
	return require_memory(realloc(p, size), size);
}

void sim_pool_init(struct sim_pool *p, size_t size)
{
	*p = (struct sim_pool){.size = (size + 15) & ~(size_t)15};
}

void *sim_pool_get(struct sim_pool *p)
{
	void *obj = p->free;

	if (++p->used > p->peak)
		p->peak = p->used;
	if (obj != NULL) {
		p->free = *(void **)obj;
		return obj;
	}
	if (p->slab_left < p->size) {
		size_t bytes = p->size > SLAB_BYTES ? p->size : SLAB_BYTES;
		char *slab = sim_realloc(NULL, SLAB_HEAD + bytes);

		*(void **)slab = p->slabs;
		p->slabs = slab;
		p->slab = slab + SLAB_HEAD;
		p->slab_left = bytes;
	}
	obj = p->slab;
	p->slab += p->size;
	p->slab_left -= p->size;
	return obj;
}

void sim_pool_put(struct sim_pool *p, void *obj)
{
	*(void **)obj = p->free;
	p->free = obj;
	p->used--;
}

void sim_pool_free(struct sim_pool *p)
{
	while (p->slabs != NULL) {
		void *next = *(void **)p->slabs;

		free(p->slabs);
		p->slabs = next;
	}
	sim_pool_init(p, p->size);
}
