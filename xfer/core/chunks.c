/* SPDX-License-Identifier: BSD-3-Clause */
#include "xfer/core/inside.h"

struct hp3xc_chunk *hp3xc_chunks_take(struct hp3x_core *c, uint32_t n)
{
	struct hp3xc_chunk *first = NULL;

	if (n > c->free_chunks)
		return NULL;
	c->free_chunks -= n;
	while (n-- > 0) {
		struct hp3xc_chunk *chunk = c->chunk;

		c->chunk = chunk->next;
		chunk->next = first;
		first = chunk;
	}
	return first;
}

void hp3xc_chunks_free(struct hp3x_core *c, struct hp3xc_chunk *first)
{
	while (first != NULL) {
		struct hp3xc_chunk *next = first->next;

		first->next = c->chunk;
		c->chunk = first;
		c->free_chunks++;
		first = next;
	}
}
