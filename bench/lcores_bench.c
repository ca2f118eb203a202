/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a second lcore double the packets? Prints one JSON object; bench/run repeats it.
 *
 * Own ports: each lcore has its own belt of packets (pipeline_bench.c) and its own pipe
 * (app/hp3d/pipe), as if a NIC spread packets by RSS. One lcore alone, and both at the same time,
 * alternate. Cycles are CPU time of the lcore, so preemption does not count.
 *
 * Software: the loop of hp3d's workers. All packets arrive in one queue. Two lcores share the flows
 * and hand packets to each other; one of them sends. Cycles are the time until the last packet has
 * left, so this row is valid only on two idle CPUs.
 */
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <jansson.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_version.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/internal.h"
#include "app/hp3d/pipe/memory.h"
#include "base/hash.h"
#include "bench/belt.h"
#include "bench/ring_rail.h"

#define KINDS      LOAD_PEER /* of packets that are measured here: the local RNICs' */
#define LCORES     2u
#define TURNS      4u /* alone and together, in turn */
#define PASSES_MAX 4096u

struct options {
	uint32_t flows, mbufs, packets, mbuf_bytes, memory_mb;
	uint64_t seed;
	unsigned cpu[LCORES];
};

static struct options opt;

static void pin(unsigned lcore)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(opt.cpu[lcore], &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t cpu_cycles(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)(((double)ts.tv_sec + (double)ts.tv_nsec * 1e-9) *
			  (double)rte_get_tsc_hz());
}

/* cycles: of the clock per packet, by all lcores together; sorted here. */
static void add_row(json_t *rows, const char *stage, enum load_kind kind, double *cycles,
	uint32_t n, double alone)
{
	double median;

	qsort(cycles, n, sizeof(cycles[0]), by_value);
	median = cycles[n / 2];
	json_array_append_new(
		rows, json_pack("{s:s, s:s, s:b, s:i, s:i, s:f, s:f, s:f, s:f}", "stage", stage,
			      "packet", kind == LOAD_ACK ? "ACK" : "WRITE", "moved", 0, "flows",
			      (int)opt.flows, "mbufs", (int)opt.mbufs, "cycles", median, "min",
			      cycles[0], "mpps", (double)rte_get_tsc_hz() / median / 1e6, "speedup",
			      alone > 0 ? alone / median : 1.0));
}

/* --- own ports --- */

struct job {
	struct belt belt;
	struct load load;
	unsigned lcore;
	uint32_t passes;
	double cycles[PASSES_MAX];
	uint32_t n;
	bool ready; /* it has its figures */
	const struct job *other; /* whom to keep company; NULL: nobody */
} __attribute__((aligned(128)));

static struct job jobs[KINDS][LCORES];

static void one_pass(struct job *j, bool count)
{
	enum hp3_dir dir = load_dir(j->belt.kind);
	struct rte_mbuf *m[LOAD_BURST];
	uint64_t start;

	belt_refresh(&j->belt, &j->load);
	start = cpu_cycles();
	for (uint32_t done = 0; done < j->belt.n;) {
		uint16_t n = belt_receive(&j->belt, m);

		hp3d_pipe_burst(j->load.pipe, dir, m, n, hp3d_now());
		done += n;
	}
	if (count)
		j->cycles[j->n++] = (double)(cpu_cycles() - start) / j->belt.n;
}

static int run_job(void *arg)
{
	struct job *j = arg;

	pin(j->lcore);
	hp3d_pipe_output(j->load.pipe, load_dir(j->belt.kind), belt_send, &j->belt);
	one_pass(j, false); /* the caches are another turn's */
	one_pass(j, false);
	for (uint32_t i = 0; i < j->passes; i++)
		one_pass(j, true);
	__atomic_store_n(&j->ready, true, __ATOMIC_RELEASE);
	while (j->other != NULL && !__atomic_load_n(&j->other->ready, __ATOMIC_ACQUIRE))
		one_pass(j, false);
	return 0;
}

/* The main lcore is the first: to wait for lcores takes a CPU. */
static void launch(struct job *j, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		j[i].ready = false;
		j[i].other = n > 1 ? &j[!i] : NULL;
	}
	if (n > 1)
		rte_eal_remote_launch(run_job, &j[1], 1);
	run_job(&j[0]);
	rte_eal_mp_wait_lcore();
}

static void measure_own(enum load_kind kind, json_t *rows)
{
	static double alone[PASSES_MAX], both[PASSES_MAX];
	uint32_t n = 0, per = RTE_MIN(opt.packets / opt.mbufs / TURNS + 1, PASSES_MAX / TURNS);
	struct job *j = jobs[kind];

	for (unsigned turn = 0; turn < TURNS; turn++) {
		j[0].passes = j[1].passes = per;
		j[0].n = j[1].n = 0;
		launch(j, 1);
		memcpy(alone + n, j[0].cycles, per * sizeof(alone[0]));
		j[0].n = 0;
		launch(j, LCORES);
		/* Rates add up. */
		for (uint32_t i = 0; i < per; i++)
			both[n + i] = 1 / (1 / j[0].cycles[i] + 1 / j[1].cycles[i]);
		n += per;
	}
	add_row(rows, "1 lcore", kind, alone, n, 0);
	add_row(rows, "2 lcores, own ports", kind, both, n, alone[n / 2]);
}

/* --- software --- */

static struct ring_rail rails[LCORES]; /* for one worker and for two */
static struct load shared[LCORES];
static struct rte_mbuf **packets;
static uint64_t rng;
static bool end;

static void send_link(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	hp3d_link_send(ctx, m, n);
}

/* The next packets of flows drawn at random, each as the worker of its addresses expects it. */
static void refresh_shared(enum load_kind kind)
{
	for (uint32_t i = 0; i < opt.mbufs; i++) {
		uint32_t flow = hp3_random_below(&rng, opt.flows);
		uint8_t local[4], remote[4];

		load_addresses(flow, local, remote);
		load_next(&shared[hp3d_worker_of(0, false, local, remote)], kind, packets[i], flow);
	}
}

static int help(void *worker)
{
	pin(1);
	while (!__atomic_load_n(&end, __ATOMIC_ACQUIRE))
		hp3d_worker_round(worker);
	return 0;
}

struct shared_job {
	struct ring_rail *rail;
	enum load_kind kind;
	uint32_t passes;
	double *cycles;
};

/* Worker 0 and what there is around it: packets in, time, packets out. */
static int lead(const struct shared_job *j)
{
	enum hp3_dir dir = load_dir(j->kind);
	struct rte_ring *in = j->rail->in[dir][0], *out = j->rail->out[dir][0];

	pin(0);
	for (uint32_t i = 0; i < opt.mbufs; i++)
		load_template(j->kind, packets[i]);
	for (uint32_t i = 0; i < j->passes; i++) {
		uint64_t start;

		refresh_shared(j->kind);
		start = rte_rdtsc_precise();
		rte_ring_enqueue_bulk(in, (void **)packets, opt.mbufs, NULL);
		while (rte_ring_count(out) < opt.mbufs)
			hp3d_worker_round(hp3d_worker(0));
		j->cycles[i] = (double)(rte_rdtsc_precise() - start) / opt.mbufs;
		rte_ring_dequeue_bulk(out, (void **)packets, opt.mbufs, NULL);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELEASE);
	return 0;
}

static int check(const struct load *l)
{
	const char *wrong = load_check(l);

	if (wrong == NULL)
		return 0;
	fprintf(stderr, "hp3-bench-lcores: %s; figures would mean nothing\n", wrong);
	return -EIO;
}

static int make_workers(unsigned lcores, struct rte_mbuf **m)
{
	struct hp3_config cfg = load_config(opt.flows, LOAD_HOME, opt.memory_mb);
	int ret;

	cfg.eal.lcores = lcores;
	cfg.eal.burst = LOAD_BURST;
	ret = ring_rail_start(&rails[lcores - 1], lcores, jobs[0][0].belt.pool);
	if (ret == 0)
		ret = hp3d_workers_make(&cfg);
	for (unsigned i = 0; i < lcores && ret == 0; i++) {
		struct hp3d_worker *w = hp3d_worker(i);

		ret = load_attach(&shared[i], hp3d_worker_pipe(w, 0), opt.flows, m);
		for (unsigned dir = 0; dir < 2; dir++)
			hp3d_pipe_output(hp3d_worker_pipe(w, 0), dir, send_link, &w->out[dir]);
	}
	return ret;
}

static int measure_shared(json_t *rows, struct rte_mbuf **m)
{
	static double cycles[PASSES_MAX];
	double alone[KINDS] = {0};

	for (unsigned lcores = 1; lcores <= LCORES; lcores++) {
		int ret = make_workers(lcores, m);

		if (ret < 0)
			return ret;
		for (unsigned kind = 0; kind < KINDS; kind++) {
			struct shared_job j = {&rails[lcores - 1], kind,
				RTE_MIN(opt.packets / opt.mbufs + 5, PASSES_MAX), cycles};

			end = false;
			if (lcores > 1)
				rte_eal_remote_launch(help, hp3d_worker(1), 1);
			ret = lead(&j);
			rte_eal_mp_wait_lcore();
			if (ret < 0)
				return ret;
			add_row(rows, lcores == 1 ? "1 lcore, its loop" : "2 lcores, software",
				kind, cycles, j.passes, alone[kind]);
			alone[kind] = cycles[j.passes / 2];
		}
		for (unsigned i = 0; i < lcores && ret == 0; i++) {
			ret = check(&shared[i]);
			load_free(&shared[i]);
		}
		if (ret < 0)
			return ret;
		hp3d_workers_free();
	}
	return 0;
}

/* --- */

static int make_jobs(const struct hp3_config *cfg, struct rte_mbuf **m)
{
	static const char *const names[KINDS][LCORES] = {
		{"ack_0", "ack_1"}, {"write_0", "write_1"}};
	int ret = 0;

	for (unsigned i = 0; i < KINDS * LCORES && ret == 0; i++) {
		unsigned kind = i / LCORES, lcore = i % LCORES;
		struct job *j = &jobs[kind][lcore];

		j->lcore = lcore;
		ret = belt_init(&j->belt, kind, opt.mbufs, true, names[kind][lcore], cfg);
		if (ret == 0)
			ret = load_init(
				&j->load, opt.flows, LOAD_HOME, opt.seed + i, opt.memory_mb, m);
	}
	return ret;
}

static int check_jobs(void)
{
	int ret = 0;

	for (unsigned i = 0; i < KINDS * LCORES && ret == 0; i++) {
		struct job *j = &jobs[i / LCORES][i % LCORES];

		ret = check(&j->load);
		if (ret == 0 && !belt_complete(&j->belt)) {
			fprintf(stderr, "hp3-bench-lcores: packets were lost, or overtook each "
					"other\n");
			ret = -EIO;
		}
	}
	return ret;
}

static int run(const struct hp3_config *cfg, json_t *rows)
{
	struct rte_mempool *pool;
	struct rte_mbuf *m[LOAD_BURST];
	int ret;

	pool = hp3d_packet_pool(cfg, "shared", opt.mbufs + LOAD_BURST, 0, SOCKET_ID_ANY);
	packets = calloc(opt.mbufs, sizeof(struct rte_mbuf *));
	rng = opt.seed;
	if (pool == NULL)
		return -rte_errno;
	if (packets == NULL || rte_pktmbuf_alloc_bulk(pool, m, LOAD_BURST) != 0 ||
		rte_pktmbuf_alloc_bulk(pool, packets, opt.mbufs) != 0)
		return -ENOMEM;
	ret = make_jobs(cfg, m);
	for (unsigned i = 0; i < LCORES && ret == 0; i++)
		ret = ring_rail_make(&rails[i], i == 0 ? "one" : "two", 1, opt.mbufs, false);
	for (unsigned kind = 0; kind < KINDS && ret == 0; kind++)
		measure_own(kind, rows);
	if (ret == 0)
		ret = check_jobs();
	return ret == 0 ? measure_shared(rows, m) : ret;
}

static const char usage[] = "usage: hp3-bench-lcores [--flows N] [--mbufs N] [--packets N] "
			    "[--mbuf-bytes N] [--seed N]\n"
			    "                        [--memory MB] [--cpus N,N]\n"
			    "One round; prints JSON. bench/run is what a person runs.\n";

static uint32_t number(const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 0);

	if (end == text || *end != '\0' || v < min || v > max) {
		fprintf(stderr, "hp3-bench-lcores: %s: a number from %u to %u is wanted\n%s", text,
			min, max, usage);
		exit(2);
	}
	return (uint32_t)v;
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {{"flows", 1, NULL, 'f'}, {"mbufs", 1, NULL, 'n'},
		{"packets", 1, NULL, 'p'}, {"mbuf-bytes", 1, NULL, 'b'}, {"seed", 1, NULL, 's'},
		{"memory", 1, NULL, 'm'}, {"cpus", 1, NULL, 'u'}, {0}};
	int c;

	opt = (struct options){.flows = 65536,
		.mbufs = 1024,
		.packets = 200000,
		.mbuf_bytes = 4608,
		.memory_mb = 1024,
		.seed = 1,
		.cpu = {0, 1}};
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'f')
			opt.flows = number(optarg, 64, 1u << 22);
		else if (c == 'n')
			opt.mbufs = number(optarg, LOAD_BURST, 65536) & ~(LOAD_BURST - 1);
		else if (c == 'p')
			opt.packets = number(optarg, 1, 1u << 22);
		else if (c == 'b')
			opt.mbuf_bytes = number(optarg, 2176, 16384);
		else if (c == 's')
			opt.seed = number(optarg, 0, UINT32_MAX);
		else if (c == 'm')
			opt.memory_mb = number(optarg, 64, 65536);
		else if (c != 'u' || sscanf(optarg, "%u,%u", &opt.cpu[0], &opt.cpu[1]) != 2)
			c = '?';
		if (c == '?') {
			fputs(usage, stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct hp3_config cfg;
	json_t *rows = json_array(), *out;
	int ret;

	parse_options(argc, argv);
	cfg = load_config(opt.flows, LOAD_HOME, opt.memory_mb);
	cfg.eal.mbuf_bytes = opt.mbuf_bytes;
	snprintf(cfg.eal.file_prefix, sizeof(cfg.eal.file_prefix), "hp3bench%d", (int)getpid());
	snprintf(cfg.eal.cpus, sizeof(cfg.eal.cpus), "%u,%u", opt.cpu[0], opt.cpu[1]);
	if (hp3d_eal_init(&cfg, 1, true) < 0)
		return 1;
	ret = run(&cfg, rows);
	out = json_pack("{s:I, s:o}", "tsc_hz", (json_int_t)rte_get_tsc_hz(), "rows", rows);
	if (ret == 0) {
		json_dumpf(out, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
		putchar('\n');
	} else if (ret != -EIO) {
		fprintf(stderr, "hp3-bench-lcores: set-up failed: %s\n",
			hp3_pool_failure(-ret, "raise --memory"));
	}
	json_decref(out);
	rte_eal_cleanup();
	return ret == 0 ? 0 : 1;
}
