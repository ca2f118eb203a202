/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/passes.h"
#include <rte_cycles.h>
#include "app/hp3d/lcores/eal.h"
#include "bench/load_spray.h"

static struct rte_mbuf *acks[LOAD_HELD_MAX], *spare[LOAD_BURST];
static uint32_t n_acks;

void pass_bare(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = belt_receive(b, m);

		done += rte_eth_tx_burst(b->port, 0, m, n);
	}
}

/* One burst seen, that is parsed, and its buckets asked for. */
static uint16_t see(struct belt *b, struct load *l, struct rte_mbuf **m)
{
	uint16_t n = belt_receive(b, m);

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (uint16_t i = 0; i < n; i++)
		b->pkts[i] = (struct hp3_pkt){
			.frame = rte_pktmbuf_mtod(m[i], void *), .len = m[i]->data_len};
	hp3_see_burst(hp3d_pipe_engine(l->pipe), b->pkts, n, load_dir(b->kind));
	return n;
}

void pass_parse(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = see(b, l, m);

		done += rte_eth_tx_burst(b->port, 0, m, n);
	}
}

/* hp3_burst() alone is timed. */
void pass_engine(struct belt *b, struct load *l)
{
	static struct hp3_verdict verdicts[LOAD_BURST];
	static struct hp3_acts acts;
	struct rte_mbuf *m[LOAD_BURST];

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = see(b, l, m);
		uint64_t start = rte_rdtsc_precise();

		for (uint32_t at = 0; at < n;)
			at += hp3_burst(hp3d_pipe_engine(l->pipe), b->pkts + at, n - at,
				load_dir(b->kind), hp3d_now(), verdicts + at, &acts);
		b->spent += rte_rdtsc_precise() - start;
		done += rte_eth_tx_burst(b->port, 0, m, n);
	}
}

void pass_pipeline(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];
	enum hp3_dir dir = load_dir(b->kind);

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = belt_receive(b, m);

		hp3d_pipe_burst(l->pipe, dir, m, n, hp3d_now());
		done += n;
	}
}

/* Where ACKs go that end a drain: they stay ours. */
static void keep(void *ctx, struct rte_mbuf **m, uint16_t n)
{
}

void pass_hold(struct belt *b, struct load *l)
{
	pass_pipeline(b, l);
	for (uint32_t i = 0; i < n_acks; i += LOAD_BURST)
		hp3d_pipe_burst(l->pipe, HP3_DIR_RX, acks + i,
			(uint16_t)RTE_MIN(n_acks - i, LOAD_BURST), hp3d_now());
}

int pass_init(struct rte_mempool *pool)
{
	int ret = rte_pktmbuf_alloc_bulk(pool, spare, LOAD_BURST);

	return ret != 0 ? ret : rte_pktmbuf_alloc_bulk(pool, acks, LOAD_HELD_MAX);
}

struct rte_mbuf *pass_spare(void)
{
	return spare[0];
}

/* The ACKs for what this pass will hold. */
static void prepare_hold(struct belt *b, struct load *l)
{
	for (n_acks = 0; n_acks < l->n_held;) {
		uint16_t n = load_acks(l, n_acks, acks + n_acks);

		if (n == 0)
			break;
		n_acks += n;
	}
	hp3d_pipe_output(l->pipe, HP3_DIR_TX, belt_send, b);
	hp3d_pipe_output(l->pipe, HP3_DIR_RX, keep, NULL);
}

/* The flows that were released move again; packets that were held take their place on the belt. */
static void after_hold(struct belt *b, struct load *l)
{
	struct rte_mbuf *m;
	uint32_t n = 0;

	while (rte_ring_dequeue(b->ring, (void **)&m) == 0)
		n++;
	b->lost += b->n - n;
	rte_ring_enqueue_bulk(b->ring, (void **)b->m, b->n, NULL);
	if (load_again(l, spare) < 0)
		b->lost++;
}

/* What was held leaves later than it came: all take their places again. */
static void after_order(struct belt *b, struct load *l)
{
	struct rte_mbuf *m;
	uint32_t n = 0;

	for (; rte_ring_dequeue(b->ring, (void **)&m) == 0; n++)
		b->lost += !load_in_order(l, m);
	b->lost += b->n - n;
	rte_ring_enqueue_bulk(b->ring, (void **)b->m, b->n, NULL);
}

void pass_prepare(struct belt *b, struct load *l, pass_fn *pass)
{
	if (l != NULL)
		belt_refresh(b, l);
	if (pass == pass_hold)
		prepare_hold(b, l);
	b->spent = 0;
}

void pass_settle(struct belt *b, struct load *l, pass_fn *pass)
{
	if (pass == pass_parse) /* what was seen without being sent is: the next is the next one */
		pass_engine(b, l);
	b->spent = 0;
	if (pass == pass_hold)
		after_hold(b, l);
	if (l != NULL && load_is_ordered(b->kind))
		after_order(b, l);
}
