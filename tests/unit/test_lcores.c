/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers, with a NIC that spreads packets (the test plays it: right, or all into one queue)
 * and without. Flows keep their order and stay with the worker of their addresses, in both
 * directions. And which cache lines the two write: all memory that can be written is compared
 * before and after each of them has handled packets. None may be written by both but those of the
 * rings between them, which nobody touches where the NIC spreads. (A line that is overwritten with
 * what it held is not seen so; the layout of struct hp3d_worker is asserted where it is declared.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <time.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_launch.h>
#include "app/hp3d/eal.h"
#include "app/hp3d/pipe.h"
#include "app/hp3d/workers_internal.h"
#include "bench/ring_rail.h"
#include "engine/hash.h"
#include "roce/build.h"

#define SEED    20261121u
#define FLOWS   32u
#define EACH    48u /* packets of a flow in each direction */
#define SIZE    4096u /* of a ring: holds all packets of a direction */
#define LQPN    0x100u
#define RQPN    0x200u
#define PSN     0xfffff0u
#define PAYLOAD 1024u
#define LINE    64u
#define PATIENT 20000000000ull /* far beyond what a busy machine takes */

static struct rte_mempool *pool;
static struct hp3_config cfg;
static uint64_t rng = SEED;

static void addresses(uint32_t flow, uint8_t local[16], uint8_t remote[16])
{
	const uint8_t l[16] = {10, 9, 0, (uint8_t)(1 + flow / 8)};
	const uint8_t r[16] = {10, 9, 1, (uint8_t)(1 + flow % 8)};

	memcpy(local, l, 16);
	memcpy(remote, r, 16);
}

static unsigned owner_of(uint32_t flow)
{
	uint8_t local[16], remote[16];

	addresses(flow, local, remote);
	return hp3d_worker_of(false, local, remote);
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
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct hp3_qp_event ev = {.kind = HP3_QP_UP,
			.pairing = HP3_PAIRING_EVENT,
			.lqpn = LQPN + i,
			.rqpn = RQPN + i};

		addresses(i, ev.local, ev.remote);
		assert_int_equal(hp3d_pipe_qp(hp3d_worker_pipe(hp3d_worker(owner_of(i)), 0), &ev,
					 hp3d_now()),
			0);
	}
}

/* Packet n of every flow, in another order each time; `aside`: the NIC puts all into one queue. */
static void feed(struct ring_rail *r, enum hp3_dir dir, uint32_t n, bool aside)
{
	uint32_t start = hp3_random_below(&rng, FLOWS);

	for (uint32_t i = 0; i < FLOWS; i++) {
		uint32_t flow = (start + i * 5) % FLOWS;
		unsigned q = r->queues == 1 ? 0 : aside ? 1 : owner_of(flow);

		assert_int_equal(rte_ring_enqueue(r->in[dir][q], packet(dir, flow, n)), 0);
	}
}

/* What has left in a direction; every flow's packets in order. */
static void collect(struct ring_rail *r, enum hp3_dir dir, uint32_t next[FLOWS])
{
	struct rte_mbuf *m;

	for (unsigned q = 0; q < r->queues; q++) {
		while (rte_ring_dequeue(r->out[dir][q], (void **)&m) == 0) {
			struct hp3_view v;
			uint32_t flow;

			hp3_parse(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_data_len(m), &v);
			flow = v.dest_qpn - (dir == HP3_DIR_TX ? RQPN : LQPN);
			assert_in_range(flow, 0, FLOWS - 1);
			assert_int_equal(v.psn, hp3_psn_add(PSN, next[flow]++));
			rte_pktmbuf_free(m);
		}
	}
}

static void all_out(struct ring_rail *r, enum hp3_dir dir, uint32_t next[FLOWS])
{
	uint64_t start = hp3d_now();

	for (uint32_t i = 0; i < FLOWS; i++) {
		while (next[i] < EACH) {
			struct timespec ts = {.tv_nsec = 1000000};

			assert_true(hp3d_now() - start < PATIENT);
			nanosleep(&ts, NULL);
			collect(r, dir, next);
		}
		assert_int_equal(next[i], EACH);
	}
}

static void no_poll(int timeout_ms)
{
}

static void spread_over_two(const char *name, unsigned queues, bool aside)
{
	static struct ring_rail r;
	uint32_t sent[FLOWS] = {0}, acked[FLOWS] = {0}, flows[2] = {0};
	uint64_t handed = 0;

	assert_int_equal(ring_rail_make(&r, name, queues, SIZE, false), 0);
	assert_int_equal(ring_rail_start(&r, cfg.eal.lcores, pool), 0);
	assert_int_equal(hp3d_workers_make(&cfg), 0);
	announce();
	for (unsigned w = 0; w < 2; w++)
		rte_eal_remote_launch(
			hp3d_worker_run, hp3d_worker(w), hp3d_lcores.workers[w].lcore);
	for (uint32_t n = 0; n < EACH; n++)
		feed(&r, HP3_DIR_TX, n, aside);
	all_out(&r, HP3_DIR_TX, sent);
	for (uint32_t n = 0; n < EACH; n++)
		feed(&r, HP3_DIR_RX, n, aside);
	all_out(&r, HP3_DIR_RX, acked);
	hp3d_workers_stop(&cfg, no_poll);
	for (uint32_t i = 0; i < FLOWS; i++)
		flows[owner_of(i)]++;
	for (unsigned w = 0; w < 2; w++) {
		struct hp3d_pipe *p = hp3d_worker_pipe(hp3d_worker(w), 0);
		const struct hp3_stats *s = hp3_engine_stats(hp3d_pipe_engine(p));

		assert_in_range(flows[w], 1, FLOWS - 1);
		assert_int_equal(s->tx_requests, flows[w] * EACH);
		assert_int_equal(s->rx_replies, flows[w] * EACH);
		assert_int_equal(s->retransmits + s->untracked, 0);
		assert_int_equal(hp3_engine_flows(hp3d_pipe_engine(p)), flows[w]);
		handed += hp3d_pipe_counters(p)->handed_over;
	}
	if (queues > 1)
		assert_int_equal(handed, aside ? 2 * EACH * flows[0] : 0);
	else
		assert_int_equal(handed, EACH * FLOWS);
	assert_int_equal(hp3d_workers_free(), 0);
}

static void nic_spreads(void **state)
{
	spread_over_two("right", 2, false);
}

static void nic_spreads_wrongly(void **state)
{
	spread_over_two("aside", 2, true);
}

static void software_spreads(void **state)
{
	spread_over_two("soft", 1, false);
}

/* All memory that can be written, but for what the test itself looks with. */
struct region {
	uint8_t *at, *before, *dirty[2]; /* a flag per line */
	size_t n;
};

static struct region regions[4096];
static unsigned n_regions;

static void find_regions(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	assert_non_null(f);
	n_regions = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || strstr(line, " rw") == NULL ||
			strstr(line, "[stack]") != NULL)
			continue;
		assert_true(n_regions < RTE_DIM(regions));
		regions[n_regions++] = (struct region){.at = (uint8_t *)from, .n = to - from};
	}
	fclose(f);
	for (unsigned i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];

		r->before = mmap(NULL, r->n + 2 * (r->n / LINE), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		assert_ptr_not_equal(r->before, MAP_FAILED);
		r->dirty[0] = r->before + r->n;
		r->dirty[1] = r->dirty[0] + r->n / LINE;
	}
}

static void take_picture(void)
{
	for (unsigned i = 0; i < n_regions; i++)
		memcpy(regions[i].before, regions[i].at, regions[i].n);
}

static uint32_t compare(unsigned worker)
{
	uint32_t written = 0;

	for (unsigned i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];

		for (size_t k = 0; k < r->n / LINE; k++) {
			if (memcmp(r->at + k * LINE, r->before + k * LINE, LINE) == 0)
				continue;
			r->dirty[worker][k] = 1;
			written++;
		}
	}
	return written;
}

static void forget_regions(void)
{
	for (unsigned i = 0; i < n_regions; i++)
		munmap(regions[i].before, regions[i].n + 2 * (regions[i].n / LINE));
}

/* A worker that makes its rounds when it is told to. */
struct turns {
	struct hp3d_worker *w;
	uint32_t told, done; /* how many times; atomic */
	const uint8_t *scheduled; /* as below, of its thread */
	bool end;
} __attribute__((aligned(LINE)));

static struct turns turns[2];

/* Where the kernel notes on which CPU this thread runs, whenever that changes (rseq). */
static const uint8_t *noted_by_kernel(void)
{
	return (const uint8_t *)__builtin_thread_pointer() + __rseq_offset;
}

static int make_rounds(void *arg)
{
	struct turns *t = arg;

	t->scheduled = noted_by_kernel();
	for (uint32_t n = 0; !__atomic_load_n(&t->end, __ATOMIC_ACQUIRE);) {
		if (__atomic_load_n(&t->told, __ATOMIC_ACQUIRE) == n) {
			sched_yield();
			continue;
		}
		for (unsigned i = 0; i < FLOWS * EACH / 16; i++)
			hp3d_worker_round(t->w);
		__atomic_store_n(&t->done, ++n, __ATOMIC_RELEASE);
	}
	return 0;
}

static void end_turns(void)
{
	__atomic_store_n(&turns[0].end, true, __ATOMIC_RELEASE);
	__atomic_store_n(&turns[1].end, true, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
}

static void tell(unsigned worker)
{
	struct turns *t = &turns[worker];
	uint64_t start = hp3d_now();

	__atomic_store_n(&t->told, t->told + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&t->done, __ATOMIC_ACQUIRE) != t->told) {
		assert_true(hp3d_now() - start < PATIENT);
		sched_yield();
	}
}

/* net_ring counts the packets of its queues beside its pointers to the rings: not ours to part. */
static bool is_of_net_ring(const struct ring_rail *r, const uint8_t *line)
{
	for (unsigned i = 0; i < LINE / sizeof(void *); i++) {
		const void *p;

		memcpy(&p, line + i * sizeof(p), sizeof(p));
		for (unsigned q = 0; q < 2 * r->queues; q++) {
			if (p == r->in[q / r->queues][q % r->queues] ||
				p == r->out[q / r->queues][q % r->queues])
				return true;
		}
	}
	return false;
}

/* A thread that waits for its turn is moved to another CPU now and then. */
static bool is_of_kernel(const uint8_t *line)
{
	const uint8_t *notes[] = {turns[0].scheduled, turns[1].scheduled, noted_by_kernel()};

	for (unsigned i = 0; i < RTE_DIM(notes); i++) {
		if (notes[i] >= line && notes[i] < line + LINE)
			return true;
	}
	return false;
}

static uint32_t written_by_both(const struct ring_rail *rail)
{
	uint32_t both = 0;

	for (unsigned i = 0; i < n_regions; i++) {
		const struct region *r = &regions[i];

		for (size_t k = 0; k < r->n / LINE; k++) {
			if (!r->dirty[0][k] || !r->dirty[1][k] ||
				is_of_net_ring(rail, r->at + k * LINE) ||
				is_of_kernel(r->at + k * LINE))
				continue;
			print_message("written by both: %p\n", (void *)(r->at + k * LINE));
			both++;
		}
	}
	return both;
}

/* Each twice, after a turn in which libraries are bound and tables touched for the first time. */
static void write_apart(const char *name, unsigned queues)
{
	static struct ring_rail r;
	uint32_t next[2][FLOWS] = {0}, lines[2] = {0}, both;

	assert_int_equal(ring_rail_make(&r, name, queues, SIZE, false), 0);
	assert_int_equal(ring_rail_start(&r, cfg.eal.lcores, pool), 0);
	assert_int_equal(hp3d_workers_make(&cfg), 0);
	announce();
	for (unsigned w = 0; w < 2; w++) {
		turns[w] = (struct turns){.w = hp3d_worker(w)};
		rte_eal_remote_launch(make_rounds, &turns[w], hp3d_lcores.workers[w].lcore);
	}
	for (uint32_t n = 0; n < EACH; n++) {
		if (n == EACH / 2)
			find_regions();
		feed(&r, HP3_DIR_TX, n, false);
		if (n > 0)
			feed(&r, HP3_DIR_RX, n - 1, false);
		if (n % (EACH / 4) != EACH / 4 - 1)
			continue;
		for (unsigned turn = 0; turn < 4; turn++) {
			if (n >= EACH / 2)
				take_picture();
			tell(turn & 1);
			if (n >= EACH / 2)
				lines[turn & 1] += compare(turn & 1);
		}
		collect(&r, HP3_DIR_TX, next[0]);
		collect(&r, HP3_DIR_RX, next[1]);
	}
	both = written_by_both(&r);
	print_message("%s: %u and %u lines written, %u by both\n", name, lines[0], lines[1], both);
	assert_true(lines[0] > 100 && lines[1] > 100);
	assert_int_equal(both, 0);
	for (unsigned i = 0; i < FLOWS; i++)
		assert_true(next[0][i] == EACH && next[1][i] == EACH - 1);
	forget_regions();
	end_turns();
	assert_int_equal(hp3d_workers_free(), 0);
}

/* With the address sanitizer its own books, and poisoned bytes, would be looked at. */
#if defined(__SANITIZE_ADDRESS__)
#define LOOK_AT_ALL_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOOK_AT_ALL_MEMORY 0
#endif
#endif
#ifndef LOOK_AT_ALL_MEMORY
#define LOOK_AT_ALL_MEMORY 1
#endif

static void lines_apart_where_the_nic_spreads(void **state)
{
	if (LOOK_AT_ALL_MEMORY)
		write_apart("lines_nic", 2);
}

static void lines_apart_in_software(void **state)
{
	if (LOOK_AT_ALL_MEMORY)
		write_apart("lines_soft", 1);
}

static int start(void **state)
{
	hp3_config_defaults(&cfg);
	cfg.eal.lcores = 2;
	cfg.eal.memory_mb = 64;
	cfg.flows.max_flows = 256;
	cfg.flows.max_pairs = 64;
	cfg.rfr.hold_packets = 256;
	cfg.rfr.max_moves = 64;
	snprintf(cfg.eal.file_prefix, sizeof(cfg.eal.file_prefix), "hp3-test-lcores-%d",
		(int)getpid());
	if (hp3d_eal_init(&cfg, 2, true) < 0)
		return -1;
	pool = rte_pktmbuf_pool_create(
		"packets", 4 * SIZE - 1, 0, 0, RTE_PKTMBUF_HEADROOM + 1280, SOCKET_ID_ANY);
	print_message("seed %u\n", SEED);
	return pool == NULL;
}

static int stop(void **state)
{
	/* Where a test failed half-way. */
	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		__atomic_store_n(&hp3d_lcores.workers[w].call.quit, 1, __ATOMIC_RELAXED);
	end_turns();
	return rte_eal_cleanup();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nic_spreads),
		cmocka_unit_test(nic_spreads_wrongly),
		cmocka_unit_test(software_spreads),
		cmocka_unit_test(lines_apart_where_the_nic_spreads),
		cmocka_unit_test(lines_apart_in_software),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
