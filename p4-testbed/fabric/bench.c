/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets per second of one core, no ports, no links: through one leaf, and through leaf, spine and
 * leaf, each hop with the whole program (RoCEv2 WRITE MIDDLE, 1,024 bytes of payload).
 */
#include <stdio.h>
#include <string.h>
#include "app/clock.h"
#include "config/message.h"
#include "p4-testbed/fabric/fabric_main.h"
#include "roce/build.h"
#include "roce/opcode.h"

#define ROUNDS 5u

struct bench {
	struct hp3_switches s;
	uint32_t port; /* by which the packet left last */
	uint16_t checksum; /* of the IPv4 header with TTL 64 */
};

static void keep_port(
	void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority, struct rte_mbuf *m)
{
	((struct bench *)arg)->port = port;
}

static uint32_t zero_depth(void *arg, struct hp3_swx *sw, uint32_t port, uint32_t priority)
{
	return 0;
}

static const struct hp3_swx_ops bench_ops = {keep_port, zero_depth};

static uint32_t write_middle(const struct hp3_net *net, uint8_t *buf, size_t cap)
{
	static const uint8_t payload[1024];
	const struct hp3_net_host *src = &net->host[0], *dst = &net->host[net->n_hosts - 1];
	struct hp3_addressing a = {
		.ttl = 64, .tclass = 26 << 2 | 2, .sport = 50000, .pkey = 0xffff};
	struct hp3_fields f = {.opcode = HP3_OP_RC_WRITE_MIDDLE,
		.dest_qpn = 17,
		.payload = payload,
		.payload_len = sizeof(payload)};
	int n;

	hp3_put_be32(a.src_ip, src->addr.ip4);
	hp3_put_be32(a.dst_ip, dst->addr.ip4);
	n = hp3_build(buf, cap, &a, &f);
	return n > 0 ? (uint32_t)n : 0;
}

/* ns per packet over `hops` switches. */
static double measure_hops(
	struct bench *b, struct rte_mbuf *m, uint32_t len, unsigned hops, uint32_t n)
{
	uint64_t start = hp3_clock_ns(CLOCK_MONOTONIC);
	uint16_t at = m->data_off;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = 0, port = 0;

		m->data_off = at;
		m->data_len = (uint16_t)len;
		rte_pktmbuf_mtod(m, uint8_t *)[22] = 64;
		hp3_put_be16(rte_pktmbuf_mtod(m, uint8_t *) + 24, b->checksum);
		for (unsigned h = 0; h < hops; h++) {
			const struct hp3_net_port *p;
			const struct hp3_net_link *l;

			hp3_swx_process(&b->s.sw[s], port, m);
			p = &b->s.net.sw[s].port[b->port];
			l = &b->s.net.link[p->link];
			port = p->b_end ? l->a_port : l->b_port;
			s = p->peer;
		}
	}
	return (double)(hp3_clock_ns(CLOCK_MONOTONIC) - start) / n;
}

static int run_bench(struct bench *b, struct rte_mbuf *m, bool quick)
{
	static const unsigned hops[] = {1, 3};
	static const char *const names[] = {"one hop", "leaf-spine-leaf"};
	uint8_t frame[2048];
	uint32_t len = write_middle(&b->s.net, frame, sizeof(frame));

	if (len == 0 || b->s.net.topo.shape.leaves < 2) {
		hp3_message("hp3-fabric: bench needs a topology with two leaves");
		return 1;
	}
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	b->checksum = hp3_be16(frame + 24);
	for (unsigned i = 0; i < RTE_DIM(hops); i++) {
		double best = 0;

		for (unsigned r = 0; r < ROUNDS; r++) {
			double ns = measure_hops(b, m, len, hops[i], quick ? 20000 : 200000);

			best = r == 0 || ns < best ? ns : best;
		}
		printf("{\"path\":\"%s\",\"ns\":%.0f,\"packets_per_second\":%.0f}\n", names[i],
			best, 1e9 / best);
	}
	return 0;
}

int hp3_fabric_bench(const struct hp3_fabric_args *a, const struct hp3_topo *topo)
{
	static struct bench b;
	struct rte_mbuf *m = NULL;
	int code = hp3_switches_open(&b.s, a, topo, &bench_ops, &b);

	if (code == 0)
		m = rte_pktmbuf_alloc(b.s.pool);
	code = m == NULL ? 1 : run_bench(&b, m, a->quick);
	rte_pktmbuf_free(m);
	hp3_switches_close(&b.s);
	return code;
}
