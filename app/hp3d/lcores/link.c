/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/link.h"
#include <errno.h>
#include <stdlib.h>
#include <rte_ethdev.h>

int hp3d_link_init(
	struct hp3d_link *l, const struct hp3d_egress *egress, uint32_t cap, uint64_t *drops)
{
	cap = rte_align32pow2(cap);
	*l = (struct hp3d_link){.egress = *egress,
		.cap = cap,
		.fifo = calloc(cap, sizeof(*l->fifo)),
		.drops = drops};
	return l->fifo == NULL ? -ENOMEM : 0;
}

void hp3d_link_free(struct hp3d_link *l)
{
	for (; l->n > 0; l->n--)
		rte_pktmbuf_free(l->fifo[l->head++ & (l->cap - 1)]);
	free(l->fifo);
	l->fifo = NULL;
}

static uint16_t send_burst(const struct hp3d_link *l, struct rte_mbuf **m, uint16_t n)
{
	uint16_t taken;

	if (l->egress.bypass != NULL &&
		!hp3d_bypass_may_send(l->egress.bypass, (enum hp3_dir)(l->egress.tag & 1))) {
		*l->egress.bypassed += n;
		rte_pktmbuf_free_bulk(m, n);
		return n;
	}
	if (l->egress.ring == NULL)
		return rte_eth_tx_burst(l->egress.port, l->egress.queue, m, n);
	for (uint16_t i = 0; i < n; i++)
		m[i]->port = l->egress.tag;
	taken = (uint16_t)rte_ring_sp_enqueue_burst(l->egress.ring, (void **)m, n, NULL);
	hp3d_sleeper_wake(l->egress.reader);
	return taken;
}

uint32_t hp3d_link_drain(struct hp3d_link *l)
{
	uint32_t total = 0, n = l->n;

	while (n > 0) {
		uint32_t at = l->head & (l->cap - 1);
		uint32_t run = RTE_MIN(RTE_MIN(n, l->cap - at), (uint32_t)UINT16_MAX);
		uint16_t sent = send_burst(l, &l->fifo[at], (uint16_t)run);

		if (sent == 0)
			break;
		l->head += sent;
		n -= sent;
		total += sent;
	}
	if (total != 0)
		__atomic_store_n(&l->n, n, __ATOMIC_RELAXED);
	return total;
}

static void queue_burst(struct hp3d_link *l, struct rte_mbuf **m, uint16_t n)
{
	uint32_t waiting = l->n;
	uint16_t room = (uint16_t)RTE_MIN(l->cap - waiting, (uint32_t)n);

	for (uint16_t i = 0; i < room; i++)
		l->fifo[(l->head + waiting + i) & (l->cap - 1)] = m[i];
	__atomic_store_n(&l->n, waiting + room, __ATOMIC_RELAXED);
	if (room < n) {
		*l->drops += n - room;
		rte_pktmbuf_free_bulk(m + room, n - room);
	}
}

static inline bool is_tag(const uint8_t *type, bool two_tags)
{
	return (type[0] == 0x81 && type[1] == 0x00) ||
	       (two_tags && type[0] == 0x88 && type[1] == 0xa8);
}

/* Only for frames that are longer than `bytes`. So the first segment has two tags at least. */
static __attribute__((noinline)) bool fits_with_tags(
	const struct rte_mbuf *m, uint32_t bytes, bool two_tags)
{
	const uint8_t *type = rte_pktmbuf_mtod_offset(m, const uint8_t *, 2 * RTE_ETHER_ADDR_LEN);

	for (unsigned tags = 0; tags < 1u + two_tags && is_tag(type, two_tags); tags++) {
		bytes += RTE_VLAN_HLEN;
		type += RTE_VLAN_HLEN;
	}
	return rte_pktmbuf_pkt_len(m) <= bytes;
}

/* Returns how many packets remain in m[]. */
static uint16_t drop_long(
	const struct hp3d_link *l, uint32_t bytes, struct rte_mbuf **m, uint16_t n)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		if (likely(rte_pktmbuf_pkt_len(m[i]) <= bytes) ||
			fits_with_tags(m[i], bytes, l->egress.limit->two_tags)) {
			m[kept++] = m[i];
			continue;
		}
		++*l->egress.too_long;
		rte_pktmbuf_free(m[i]);
	}
	return kept;
}

void hp3d_link_send(struct hp3d_link *l, struct rte_mbuf **m, uint16_t n)
{
	const struct hp3d_frame_limit *limit = l->egress.limit;
	uint32_t bytes = limit == NULL ? 0 : __atomic_load_n(&limit->bytes, __ATOMIC_RELAXED);
	uint16_t sent = 0;

	if (bytes != 0)
		n = drop_long(l, bytes, m, n);
	if (unlikely(l->n > 0))
		hp3d_link_drain(l);
	if (likely(l->n == 0))
		sent = send_burst(l, m, n);
	if (unlikely(sent < n))
		queue_burst(l, m + sent, (uint16_t)(n - sent));
}

uint32_t hp3d_link_pass_on(struct hp3d_link *l, struct hp3d_link *to)
{
	uint32_t total = l->n;

	while (l->n > 0) {
		uint32_t at = l->head & (l->cap - 1);
		uint16_t run = (uint16_t)RTE_MIN(RTE_MIN(l->n, l->cap - at), (uint32_t)UINT16_MAX);

		l->head += run;
		__atomic_store_n(&l->n, l->n - run, __ATOMIC_RELAXED);
		hp3d_link_send(to, &l->fifo[at], run);
	}
	return total;
}
