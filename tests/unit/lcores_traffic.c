/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_mbuf.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "lcores_traffic.h"
#include "base/hash.h"
#include "roce/build.h"

#define SEED    20261121u
#define SIZE    4096u /* of a ring: holds all packets of a direction */
#define LQPN    0x100u
#define RQPN    0x200u
#define PSN     0xfffff0u
#define PAYLOAD 1024u

struct hp3_config lcores_cfg;

static struct rte_mempool *pool;
static uint64_t rng = SEED;

static void addresses(uint32_t flow, uint8_t local[16], uint8_t remote[16])
{
	const uint8_t l[16] = {10, 9, 0, (uint8_t)(1 + flow / 8)};
	const uint8_t r[16] = {10, 9, 1, (uint8_t)(1 + flow % 8)};

	memcpy(local, l, 16);
	memcpy(remote, r, 16);
}

unsigned lcores_owner_of(uint32_t flow)
{
	uint8_t local[16], remote[16];

	addresses(flow, local, remote);
	return hp3d_worker_of(0, false, local, remote);
}

/* A WRITE MIDDLE that leaves, or the ACK of it that arrives. */
static struct rte_mbuf *packet(enum hp3_dir dir, uint32_t flow, uint32_t n)
{
	static const uint8_t payload[PAYLOAD];
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct hp3_addressing a = {.ttl = 64, .sport = 50000, .pkey = 0xffff, .tclass = 2};
	struct hp3_fields f = {.psn = hp3_psn_add(PSN, n)};
	int len;

	assert_non_null(m);
	if (dir == HP3_DIR_TX) {
		addresses(flow, a.src_ip, a.dst_ip);
		f.opcode = HP3_OP_RC_WRITE_MIDDLE;
		f.dest_qpn = RQPN + flow;
		f.payload = payload;
		f.payload_len = PAYLOAD;
	} else {
		addresses(flow, a.dst_ip, a.src_ip);
		f.opcode = HP3_OP_RC_ACK;
		f.dest_qpn = LQPN + flow;
		f.syndrome = 0x1f;
	}
	len = hp3_build(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_tailroom(m), &a, &f);
	assert_true(len > 0);
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	return m;
}

static void announce(void)
{
	for (uint32_t i = 0; i < LCORES_FLOWS; i++) {
		struct hp3_qp_event event = {.kind = HP3_QP_UP,
			.source = HP3_QP_SOURCE_KERNEL,
			.lqpn = LQPN + i,
			.rqpn = RQPN + i};

		addresses(i, event.local, event.remote);
		assert_int_equal(hp3d_pipe_qp(hp3d_worker_pipe(hp3d_worker(lcores_owner_of(i)), 0),
					 &event, hp3d_now()),
			0);
	}
}

void lcores_feed(struct ring_rail *r, enum hp3_dir dir, uint32_t n, bool aside)
{
	uint32_t start = hp3_random_below(&rng, LCORES_FLOWS);

	for (uint32_t i = 0; i < LCORES_FLOWS; i++) {
		uint32_t flow = (start + i * 5) % LCORES_FLOWS;
		unsigned q = r->queues == 1 ? 0 : aside ? 1 : lcores_owner_of(flow);

		assert_int_equal(rte_ring_enqueue(r->in[dir][q], packet(dir, flow, n)), 0);
	}
}

void lcores_collect(struct ring_rail *r, enum hp3_dir dir, uint32_t next[LCORES_FLOWS])
{
	struct rte_mbuf *m;

	for (unsigned q = 0; q < r->queues; q++) {
		while (rte_ring_dequeue(r->out[dir][q], (void **)&m) == 0) {
			struct hp3_view v;
			uint32_t flow;

			hp3_parse(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_data_len(m), &v);
			flow = v.dest_qpn - (dir == HP3_DIR_TX ? RQPN : LQPN);
			assert_in_range(flow, 0, LCORES_FLOWS - 1);
			assert_int_equal(v.psn, hp3_psn_add(PSN, next[flow]++));
			rte_pktmbuf_free(m);
		}
	}
}

void lcores_begin(struct ring_rail *r, const char *name, unsigned queues, bool whole)
{
	assert_int_equal(ring_rail_make(r, name, queues, SIZE, false), 0);
	r->ports.whole = whole;
	assert_int_equal(ring_rail_start(r, lcores_cfg.eal.lcores, pool), 0);
	assert_int_equal(hp3d_workers_make(&lcores_cfg), 0);
	announce();
}

int lcores_start(void **state)
{
	hp3_config_defaults(&lcores_cfg);
	lcores_cfg.eal.lcores = 2;
	lcores_cfg.eal.memory_mb = 64;
	lcores_cfg.engine.max_flows = 256;
	lcores_cfg.engine.max_pairs = 64;
	lcores_cfg.engine.hold_packets = 256;
	lcores_cfg.engine.max_moves = 64;
	lcores_cfg.probes.keys = HP3_KEYS_OFF; /* no messages of hp3d among the packets */
	snprintf(lcores_cfg.eal.file_prefix, sizeof(lcores_cfg.eal.file_prefix),
		"hp3-test-lcores-%d", (int)getpid());
	if (hp3d_eal_init(&lcores_cfg, 2, true) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create(
		"packets", 4 * SIZE - 1, 0, 0, RTE_PKTMBUF_HEADROOM + 1280, SOCKET_ID_ANY);
	print_message("seed %u\n", SEED);
	return pool == NULL;
}

int lcores_stop(void **state)
{
	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		__atomic_store_n(&hp3d_lcores.workers[w].call.quit, 1, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	if (hp3d_worker_count() > 0)
		hp3d_workers_free();
	return rte_eal_cleanup();
}
