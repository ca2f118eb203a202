/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory of the TCP provider: keys are random numbers, so nobody can guess one soon. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include "xfer/tcp/tcp.h"

static struct hp3x_memory *memory_of_key(struct hp3x_rails *rails, uint32_t key)
{
	struct hp3x_memory *m;

	LIST_FOREACH (m, &rails->bucket[key % BUCKETS], next)
		if (m->key == key)
			return m;
	return NULL;
}

int hp3x_tcp_memory_add(struct hp3x_rails *rails, void *base, size_t length,
	struct hp3x_memory **memory, uint32_t key[HP3X_RAILS])
{
	struct hp3x_memory *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return hp3x_error_set(-ENOMEM, "no memory to register a region");
	m->base = base;
	m->length = length;
	do {
		if (getrandom(&m->key, sizeof(m->key), 0) != sizeof(m->key)) {
			free(m);
			return hp3x_error_set(-ENOMEM, "the kernel gives no random key");
		}
	} while (memory_of_key(rails, m->key) != NULL);
	LIST_INSERT_HEAD(&rails->bucket[m->key % BUCKETS], m, next);
	for (uint32_t i = 0; i < HP3X_RAILS; i++)
		key[i] = m->key;
	*memory = m;
	return 0;
}

void hp3x_tcp_memory_remove(struct hp3x_rails *rails, struct hp3x_memory *memory)
{
	struct hp3x_endpoint *e;

	LIST_FOREACH (e, &rails->all, all) {
		/* The rest of a WRITE that arrives goes nowhere, and is refused. */
		if (e->memory == memory) {
			e->memory = NULL;
			e->into = NULL;
		}
		/* Half an answer cannot be taken back. */
		if (hp3x_tcp_answers_use(e, memory))
			hp3x_tcp_endpoint_fail(e);
	}
	LIST_REMOVE(memory, next);
	free(memory);
}

struct hp3x_memory *hp3x_tcp_memory_find(
	struct hp3x_rails *rails, uint32_t key, uint64_t address, uint64_t length)
{
	struct hp3x_memory *m = memory_of_key(rails, key);
	uint64_t offset;

	if (m == NULL || address < (uintptr_t)m->base)
		return NULL;
	offset = address - (uintptr_t)m->base;
	return offset <= m->length && length <= m->length - offset ? m : NULL;
}
