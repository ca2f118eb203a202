/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/link.h"
#include <errno.h>
#include <stdlib.h>
#include <rte_ethdev.h>

int hp3d_link_init(struct hp3d_link *l, uint16_t port, uint32_t cap)
{
	cap = rte_align32pow2(cap);
	*l = (struct hp3d_link){.port = port, .cap = cap, .fifo = calloc(cap, sizeof(*l->fifo))};
	return l->fifo == NULL ? -ENOMEM : 0;
}

void hp3d_link_free(struct hp3d_link *l)
{
	for (; l->n > 0; l->n--)
		rte_pktmbuf_free(l->fifo[l->head++ & (l->cap - 1)]);
	free(l->fifo);
	l->fifo = NULL;
}

void hp3d_link_drain(struct hp3d_link *l)
{
	while (l->n > 0) {
		uint32_t at = l->head & (l->cap - 1);
		uint32_t run = RTE_MIN(l->n, l->cap - at);
		uint16_t sent = rte_eth_tx_burst(
			l->port, 0, &l->fifo[at], (uint16_t)RTE_MIN(run, (uint32_t)UINT16_MAX));

		if (sent == 0)
			return;
		l->head += sent;
		l->n -= sent;
	}
}

void hp3d_link_send(struct hp3d_link *l, struct rte_mbuf **m, uint16_t n)
{
	uint16_t sent = 0;

	if (unlikely(l->n > 0))
		hp3d_link_drain(l);
	if (likely(l->n == 0))
		sent = rte_eth_tx_burst(l->port, 0, m, n);
	for (; sent < n; sent++) {
		if (l->n == l->cap) {
			l->drops += n - sent;
			rte_pktmbuf_free_bulk(m + sent, n - sent);
			return;
		}
		l->fifo[(l->head + l->n++) & (l->cap - 1)] = m[sent];
	}
}
