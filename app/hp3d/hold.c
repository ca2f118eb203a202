/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/hold.h"
#include <errno.h>
#include <rte_malloc.h>

#define NONE UINT32_MAX

struct node {
	struct rte_mbuf *m;
	uint32_t next;
};

struct fifo {
	uint32_t head, tail;
};

struct hp3d_hold {
	struct fifo *fifos;
	struct node *nodes;
	uint32_t free, count, peak;
};

struct hp3d_hold *hp3d_hold_create(uint32_t slots, uint32_t nodes, int socket)
{
	struct hp3d_hold *h = rte_zmalloc_socket("hp3d hold", sizeof(*h), 0, socket);

	if (h == NULL)
		return NULL;
	h->fifos = rte_malloc_socket("hp3d hold fifos", slots * sizeof(*h->fifos), 0, socket);
	h->nodes = rte_malloc_socket("hp3d hold nodes", nodes * sizeof(*h->nodes), 0, socket);
	if (h->fifos == NULL || h->nodes == NULL) {
		hp3d_hold_free(h);
		return NULL;
	}
	for (uint32_t i = 0; i < slots; i++)
		h->fifos[i] = (struct fifo){NONE, NONE};
	h->free = NONE;
	for (uint32_t i = nodes; i-- > 0;) {
		h->nodes[i].next = h->free;
		h->free = i;
	}
	return h;
}

void hp3d_hold_free(struct hp3d_hold *h)
{
	if (h == NULL)
		return;
	rte_free(h->fifos);
	rte_free(h->nodes);
	rte_free(h);
}

int hp3d_hold_put(struct hp3d_hold *h, uint16_t slot, struct rte_mbuf *m)
{
	struct fifo *f = &h->fifos[slot];
	uint32_t i = h->free;

	if (i == NONE)
		return -ENOSPC;
	h->free = h->nodes[i].next;
	h->nodes[i] = (struct node){m, NONE};
	if (f->head == NONE)
		f->head = i;
	else
		h->nodes[f->tail].next = i;
	f->tail = i;
	if (++h->count > h->peak)
		h->peak = h->count;
	return 0;
}

struct rte_mbuf *hp3d_hold_get(struct hp3d_hold *h, uint16_t slot)
{
	struct fifo *f = &h->fifos[slot];
	uint32_t i = f->head;
	struct rte_mbuf *m;

	if (i == NONE)
		return NULL;
	m = h->nodes[i].m;
	f->head = h->nodes[i].next;
	h->nodes[i].next = h->free;
	h->free = i;
	h->count--;
	return m;
}

uint32_t hp3d_hold_peak(const struct hp3d_hold *h)
{
	return h->peak;
}
