/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One round of measurement: TSC cycles per packet of hp3d's pipeline over net_ring ports, beside
 * the bare rx+tx loop over the same ports. Prints one JSON object; bench/run repeats rounds, runs
 * testpmd in between and sums up.
 *
 * Packets circulate on a belt, a net_ring port whose output is its input. A pass takes every packet
 * of the belt through the stage once, in bursts, as a worker of hp3d does, and is timed as a whole;
 * between passes, outside of the timed part, the packets are made the next ones of flows drawn at
 * random. The result of a row is the median of its passes.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_version.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/lcores/eal.h"
#include "bench/belt.h"
#include "bench/load_spray.h"
#include "bench/passes.h"

#define PASSES_MAX 4096u
#define BURSTS_MAX 65536u /* whose times are kept for the percentiles */
#define SIZES_MAX  8u

struct options {
	uint32_t flows[SIZES_MAX], n_flows;
	uint32_t hot, cold; /* mbufs on a belt */
	uint32_t packets; /* per row, at least */
	uint32_t mbuf_bytes, memory_mb;
	uint64_t seed;
	const char *cpu;
	const char *only; /* "stage, packet": that one alone; NULL: all */
};

static uint32_t burst_cycles[BURSTS_MAX], bursts;

/* As pass_pipeline(); how long each burst took, from its receipt to the end of sending. */
static void pass_bursts(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];
	enum hp3_dir dir = load_dir(b->kind);

	for (uint32_t done = 0; done < b->n;) {
		uint64_t start = rte_rdtsc();
		uint16_t n = belt_receive(b, m);

		hp3d_pipe_burst(l->pipe, dir, m, n, hp3d_now());
		done += n;
		if (bursts < BURSTS_MAX)
			burst_cycles[bursts++] = (uint32_t)(rte_rdtsc() - start);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_cycles(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static const char *const modes[LOAD_MODES] = {"", "", ", 1 % in a drain", ", 1 % in a drain",
	", dcqcn", ", sprayed", ", resequenced", ", sprayed", ", resequenced"};
static const char *const kinds[LOAD_KINDS] = {
	"ACK", "WRITE", "WRITE", "READ response", "READ response"};

/* Percentiles of the time that a burst takes, into the row. */
static void measure_bursts(json_t *row, struct belt *b, struct load *l, uint32_t passes)
{
	bursts = 0;
	for (uint32_t i = 0; i < passes; i++) {
		pass_prepare(b, l, pass_bursts);
		pass_bursts(b, l);
		pass_settle(b, l, pass_bursts);
	}
	qsort(burst_cycles, bursts, sizeof(burst_cycles[0]), by_cycles);
	json_object_set_new(row, "burst_p50", json_integer(burst_cycles[bursts / 2]));
	json_object_set_new(row, "burst_p999",
		json_integer(burst_cycles[(uint32_t)((uint64_t)bursts * 999 / 1000)]));
}

static void measure(json_t *rows, const struct options *o, const char *stage, struct belt *b,
	struct load *l, pass_fn *pass)
{
	static double cycles[PASSES_MAX];
	uint32_t passes = RTE_MIN(RTE_MAX(o->packets / b->n, 5u), PASSES_MAX);
	const bool moved = l != NULL && l->mode == LOAD_MOVED;
	char packet[48], name[96];
	json_t *row;

	snprintf(packet, sizeof(packet), "%s%s%s", kinds[b->kind],
		l != NULL && !moved ? modes[l->mode] : "", b->ring != NULL ? "" : ", net_null");
	snprintf(name, sizeof(name), "%s, %s%s", stage, packet, moved ? ", moved" : "");
	if (o->only != NULL && strcmp(o->only, name) != 0)
		return;
	if (pass == pass_pipeline)
		hp3d_pipe_output(l->pipe, load_dir(b->kind), belt_send, b);
	for (uint32_t i = 0; i < passes + 2; i++) {
		uint64_t start, spent;

		pass_prepare(b, l, pass);
		start = rte_rdtsc_precise();
		pass(b, l);
		spent = rte_rdtsc_precise() - start;
		if (i >= 2) /* the first two warm up */
			cycles[i - 2] = (double)(b->spent != 0 ? b->spent : spent) / b->n;
		pass_settle(b, l, pass);
	}
	qsort(cycles, passes, sizeof(cycles[0]), by_value);
	row = json_pack("{s:s, s:s, s:b, s:i, s:i, s:f, s:f}", "stage", stage, "packet", packet,
		"moved", moved, "flows", l != NULL ? (int)l->flows : 0, "mbufs", (int)b->n,
		"cycles", cycles[passes / 2], "min", cycles[0]);
	if (pass == pass_pipeline)
		measure_bursts(row, b, l, RTE_MAX(passes / 4, 2u));
	json_array_append_new(rows, row);
}

/* All that is measured with. */
struct rig {
	struct belt ring[LOAD_KINDS][2]; /* hot, cold */
	struct belt null[LOAD_KINDS];
	struct load loads[SIZES_MAX][LOAD_MODES];
	uint32_t extra; /* the size for which everything is measured */
};

static int rig_init(struct rig *r, const struct options *o)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"prime", PASS_BUFFERS + LOAD_BURST, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_mbuf *m[LOAD_BURST];
	struct hp3_config cfg;
	int ret = 0;

	if (pool == NULL)
		return -rte_errno;
	if (rte_pktmbuf_alloc_bulk(pool, m, LOAD_BURST) != 0 || pass_init(pool) != 0)
		return -ENOMEM;
	hp3_config_defaults(&cfg);
	cfg.eal.memory_mb = o->memory_mb;
	cfg.eal.mbuf_bytes = o->mbuf_bytes;
	r->extra = o->n_flows / 2;
	for (unsigned kind = 0; kind < LOAD_KINDS && ret == 0; kind++) {
		static const char *const names[LOAD_KINDS][3] = {
			{"ack_hot", "ack_cold", "ack_null"},
			{"write_hot", "write_cold", "write_null"}, {"peer_hot"}, {"served_hot"},
			{"read_hot"}};

		ret = belt_init(&r->ring[kind][0], kind, o->hot, true, names[kind][0], &cfg);
		if (ret == 0 && kind <= LOAD_WRITE)
			ret = belt_init(
				&r->ring[kind][1], kind, o->cold, true, names[kind][1], &cfg);
		if (ret == 0 && kind <= LOAD_WRITE)
			ret = belt_init(&r->null[kind], kind, o->hot, false, names[kind][2], &cfg);
	}
	for (unsigned i = 0; i < o->n_flows * LOAD_MODES && ret == 0; i++) {
		unsigned size = i / LOAD_MODES, mode = i % LOAD_MODES;

		if (mode <= LOAD_MOVED || size == r->extra)
			ret = load_init(&r->loads[size][mode], o->flows[size], mode, o->seed + i,
				o->memory_mb, m);
	}
	return ret;
}

/* Queue pairs on several paths. What peers agree on lasts as long as there are messages, so each
 * row begins with that. */
static int measure_sprays(struct rig *r, const struct options *o, struct load *loads, json_t *rows)
{
	static const enum load_kind kind[LOAD_MODES] = {[LOAD_SPRAYED] = LOAD_WRITE,
		[LOAD_RESEQUENCED] = LOAD_PEER,
		[LOAD_READ_SPRAYED] = LOAD_SERVED,
		[LOAD_READ_ORDERED] = LOAD_READ};
	int ret = 0;

	for (unsigned mode = LOAD_SPRAYED; mode < LOAD_MODES && ret == 0; mode++) {
		ret = load_agree(&loads[mode], pass_spare());
		if (ret == 0)
			measure(rows, o, "pipeline", &r->ring[kind[mode]][0], &loads[mode],
				pass_pipeline);
		else
			fprintf(stderr, "hp3-bench: %s%s: peers do not agree: %s\n",
				kinds[kind[mode]], modes[mode], strerror(-ret));
	}
	return ret;
}

static int measure_size(
	struct rig *r, const struct options *o, unsigned size, unsigned cold, json_t *rows)
{
	struct belt *ack = &r->ring[LOAD_ACK][cold], *wr = &r->ring[LOAD_WRITE][cold];
	struct load *l = r->loads[size];

	measure(rows, o, "pipeline", ack, &l[LOAD_HOME], pass_pipeline);
	measure(rows, o, "pipeline", wr, &l[LOAD_HOME], pass_pipeline);
	measure(rows, o, "pipeline", wr, &l[LOAD_MOVED], pass_pipeline);
	if (cold)
		return 0;
	measure(rows, o, "parse", ack, &l[LOAD_HOME], pass_parse);
	measure(rows, o, "parse", wr, &l[LOAD_HOME], pass_parse);
	measure(rows, o, "engine", ack, &l[LOAD_HOME], pass_engine);
	measure(rows, o, "engine", wr, &l[LOAD_HOME], pass_engine);
	if (size != r->extra)
		return 0;
	measure(rows, o, "pipeline", ack, &l[LOAD_DRAIN], pass_pipeline);
	measure(rows, o, "pipeline", wr, &l[LOAD_HOLD], pass_hold);
	measure(rows, o, "pipeline", ack, &l[LOAD_DCQCN], pass_pipeline);
	measure(rows, o, "pipeline", wr, &l[LOAD_DCQCN], pass_pipeline);
	measure(rows, o, "pipeline", &r->null[LOAD_ACK], &l[LOAD_HOME], pass_pipeline);
	measure(rows, o, "pipeline", &r->null[LOAD_WRITE], &l[LOAD_HOME], pass_pipeline);
	return measure_sprays(r, o, l, rows);
}

static int rig_check(struct rig *r, const struct options *o)
{
	for (unsigned kind = 0; kind < LOAD_KINDS; kind++) {
		if (!belt_complete(&r->ring[kind][0]) || !belt_complete(&r->ring[kind][1]) ||
			!belt_complete(&r->null[kind])) {
			fprintf(stderr, "hp3-bench: packets were lost or overtook each other\n");
			return -EIO;
		}
	}
	for (unsigned i = 0; i < o->n_flows * LOAD_MODES; i++) {
		struct load *l = &r->loads[i / LOAD_MODES][i % LOAD_MODES];
		const char *wrong = l->pipe != NULL ? load_check(l) : NULL;

		if (wrong != NULL) {
			fprintf(stderr, "hp3-bench: %u flows%s: %s; figures would mean nothing\n",
				l->flows, l->mode == LOAD_MOVED ? ", moved" : modes[l->mode],
				wrong);
			return -EIO;
		}
		if (l->pipe != NULL)
			load_free(l);
	}
	return 0;
}

static int run(const struct options *o, json_t *rows)
{
	static struct rig r;
	int ret = rig_init(&r, o);

	if (ret < 0) {
		fprintf(stderr, "hp3-bench: set-up failed (--memory is %u MB): %s\n", o->memory_mb,
			hp3_pool_failure(-ret, "raise --memory or lower --flows"));
		return ret;
	}
	for (unsigned cold = 0; cold < 2; cold++) {
		measure(rows, o, "bare", &r.ring[LOAD_ACK][cold], NULL, pass_bare);
		measure(rows, o, "bare", &r.ring[LOAD_WRITE][cold], NULL, pass_bare);
		for (unsigned i = 0; i < o->n_flows && ret == 0; i++)
			ret = measure_size(&r, o, i, cold, rows);
	}
	return ret < 0 ? ret : rig_check(&r, o);
}

static const char usage[] =
	"usage: hp3-bench [--flows N,N,...] [--hot MBUFS] [--cold MBUFS] [--mbuf-bytes N]\n"
	"                 [--packets N] [--seed N] [--cpu N] [--memory MB]\n"
	"                 [--only 'STAGE, PACKET']\n"
	"One round; prints JSON. bench/run is what a person runs.\n";

static uint32_t number(const char *text, uint32_t min, uint32_t max, char **end)
{
	unsigned long v = strtoul(text, end, 0);

	if (*end == text || (**end != '\0' && **end != ',') || v < min || v > max) {
		fprintf(stderr, "hp3-bench: %s: a number from %u to %u is wanted\n%s", text, min,
			max, usage);
		exit(2);
	}
	return (uint32_t)v;
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {{"flows", 1, NULL, 'f'}, {"hot", 1, NULL, 'h'},
		{"cold", 1, NULL, 'c'}, {"packets", 1, NULL, 'p'}, {"seed", 1, NULL, 's'},
		{"cpu", 1, NULL, 'u'}, {"memory", 1, NULL, 'm'}, {"mbuf-bytes", 1, NULL, 'b'},
		{"only", 1, NULL, 'o'}, {0}};
	char *end;
	int c;

	*o = (struct options){.flows = {1024, 65536, 1048576},
		.n_flows = 3,
		.hot = 1024,
		.cold = 16384,
		.packets = 200000,
		.mbuf_bytes = 4608,
		.memory_mb = 1024,
		.seed = 1,
		.cpu = ""};
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			o->n_flows = 0;
			for (end = optarg - 1; *end != '\0' || end < optarg; o->n_flows++) {
				if (o->n_flows == SIZES_MAX)
					number("too many sizes", 0, 0, &end);
				o->flows[o->n_flows] = number(end + 1, 64, 1u << 22, &end);
			}
			break;
		case 'h':
			o->hot = number(optarg, LOAD_BURST, 65536, &end) & ~(LOAD_BURST - 1);
			break;
		case 'c':
			o->cold = number(optarg, LOAD_BURST, 65536, &end) & ~(LOAD_BURST - 1);
			break;
		case 'p':
			o->packets = number(optarg, 1, 1u << 22, &end);
			break;
		case 'b':
			o->mbuf_bytes = number(optarg, 2176, 16384, &end);
			break;
		case 's':
			o->seed = number(optarg, 0, UINT32_MAX, &end);
			break;
		case 'o':
			o->only = optarg;
			break;
		case 'u':
			o->cpu = optarg;
			break;
		case 'm':
			o->memory_mb = number(optarg, 64, 65536, &end);
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		fputs(usage, stderr);
		exit(2);
	}
	if (o->hot == o->cold) {
		fprintf(stderr, "hp3-bench: --hot and --cold must differ\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct options o;
	struct hp3_config cfg;
	json_t *rows = json_array(), *out;
	int ret;

	parse_options(argc, argv, &o);
	hp3_config_defaults(&cfg);
	cfg.eal.memory_mb = o.memory_mb;
	snprintf(cfg.eal.file_prefix, sizeof(cfg.eal.file_prefix), "hp3bench%d", (int)getpid());
	snprintf(cfg.eal.cpus, sizeof(cfg.eal.cpus), "%s", o.cpu);
	if (hp3d_eal_init(&cfg, 0, true) < 0)
		return 1;
	ret = run(&o, rows);
	out = json_pack("{s:s, s:I, s:I, s:i, s:o}", "dpdk", rte_version(), "tsc_hz",
		(json_int_t)rte_get_tsc_hz(), "seed", (json_int_t)o.seed, "burst", (int)LOAD_BURST,
		"rows", rows);
	if (ret == 0) {
		json_dumpf(out, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
		putchar('\n');
	}
	json_decref(out);
	rte_eal_cleanup();
	return ret == 0 ? 0 : 1;
}
