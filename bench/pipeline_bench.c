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
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_version.h>
#include "app/hp3d/eal.h"
#include "bench/load.h"

#define PASSES_MAX 4096u
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

struct belt {
	enum load_kind kind;
	uint32_t n;
	struct rte_mbuf **m; /* in the order in which they circulate */
	struct rte_ring *ring;
	uint16_t port;
	uint64_t lost;
	struct hp3_pkt *pkts; /* parsed, for the engine alone */
	struct hp3_view views[LOAD_BURST];
};

typedef void pass_fn(struct belt *b, struct load *l);

static uint16_t receive(struct belt *b, struct rte_mbuf **m)
{
	return rte_eth_rx_burst(b->port, 0, m, LOAD_BURST);
}

static void pass_bare(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = receive(b, m);

		done += rte_eth_tx_burst(b->port, 0, m, n);
	}
}

static void pass_parse(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = receive(b, m);

		for (uint16_t i = 0; i < n; i++)
			rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
		for (uint16_t i = 0; i < n; i++)
			hp3_parse(rte_pktmbuf_mtod(m[i], void *), m[i]->data_len, &b->views[i]);
		done += rte_eth_tx_burst(b->port, 0, m, n);
	}
}

static void send_on(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct belt *b = ctx;

	b->lost += n - rte_eth_tx_burst(b->port, 0, m, n);
}

static void pass_pipeline(struct belt *b, struct load *l)
{
	struct rte_mbuf *m[LOAD_BURST];
	enum hp3_dir dir = load_dir(b->kind);

	for (uint32_t done = 0; done < b->n;) {
		uint16_t n = receive(b, m);

		hp3d_pipe_burst(l->pipe, dir, m, n, hp3d_now());
		done += n;
	}
}

static void pass_lookup(struct belt *b, struct load *l)
{
	struct hp3_engine *e = hp3d_pipe_engine(l->pipe);

	for (uint32_t done = 0; done < b->n; done += LOAD_BURST)
		hp3_find_burst(
			e, &b->pkts[done], RTE_MIN(b->n - done, LOAD_BURST), load_dir(b->kind));
}

static void pass_engine(struct belt *b, struct load *l)
{
	struct hp3_engine *e = hp3d_pipe_engine(l->pipe);
	enum hp3_dir dir = load_dir(b->kind);
	struct hp3_verdict vd;
	struct hp3_acts acts;

	for (uint32_t done = 0; done < b->n; done += LOAD_BURST) {
		struct hp3_pkt *p = &b->pkts[done];
		uint32_t n = RTE_MIN(b->n - done, LOAD_BURST);
		uint64_t now = hp3d_now();

		hp3_find_burst(e, p, n, dir);
		for (uint32_t i = 0; i < n; i++) {
			if (dir == HP3_DIR_TX)
				hp3_tx(e, &p[i], now, &vd, &acts);
			else
				hp3_rx(e, &p[i], now, &vd, &acts);
		}
	}
}

static void prepare(struct belt *b, struct load *l, pass_fn *pass)
{
	for (uint32_t i = 0; i < b->n; i++) {
		load_refresh(l, b->kind, b->m[i]);
		if (pass != pass_pipeline) {
			struct hp3_pkt *p = &b->pkts[i];

			p->frame = rte_pktmbuf_mtod(b->m[i], void *);
			p->len = b->m[i]->data_len;
			hp3_parse(p->frame, p->len, &p->v);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(json_t *rows, const struct options *o, const char *stage, struct belt *b,
	struct load *l, pass_fn *pass)
{
	static double cycles[PASSES_MAX];
	uint32_t passes = RTE_MIN(RTE_MAX(o->packets / b->n, 5u), PASSES_MAX);
	bool steady = l != NULL;
	char name[64];

	snprintf(name, sizeof(name), "%s, %s%s", stage, b->kind == LOAD_ACK ? "ACK" : "WRITE",
		steady && l->moved ? ", moved" : "");
	if (o->only != NULL && strcmp(o->only, name) != 0)
		return;
	if (pass == pass_pipeline)
		hp3d_pipe_output(l->pipe, load_dir(b->kind), send_on, b);
	for (uint32_t i = 0; i < passes + 2; i++) {
		uint64_t start;

		if (steady)
			prepare(b, l, pass);
		start = rte_rdtsc_precise();
		pass(b, l);
		if (i >= 2) /* the first two warm up */
			cycles[i - 2] = (double)(rte_rdtsc_precise() - start) / b->n;
		if (pass == pass_lookup) /* what was made for it has to be sent */
			pass_engine(b, l);
	}
	qsort(cycles, passes, sizeof(cycles[0]), by_value);
	json_array_append_new(
		rows, json_pack("{s:s, s:s, s:b, s:i, s:i, s:f, s:f}", "stage", stage, "packet",
			      b->kind == LOAD_ACK ? "ACK" : "WRITE", "moved", l != NULL && l->moved,
			      "flows", steady ? (int)l->flows : 0, "mbufs", (int)b->n, "cycles",
			      cycles[passes / 2], "min", cycles[0]));
}

static int belt_init(struct belt *b, enum load_kind kind, uint32_t n, uint32_t mbuf_bytes)
{
	struct rte_eth_conf conf = {0};
	struct rte_mempool *pool;
	char name[32];
	int port, ret;

	snprintf(name, sizeof(name), "belt_%u_%u", kind, n);
	*b = (struct belt){.kind = kind, .n = n, .m = calloc(n, sizeof(*b->m))};
	b->pkts = calloc(n, sizeof(*b->pkts));
	b->ring = rte_ring_create(
		name, n, SOCKET_ID_ANY, RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ);
	pool = rte_pktmbuf_pool_create(name, n, 0, 0, (uint16_t)mbuf_bytes, SOCKET_ID_ANY);
	if (b->m == NULL || b->pkts == NULL || b->ring == NULL || pool == NULL)
		return -ENOMEM;
	port = rte_eth_from_ring(b->ring);
	if (port < 0)
		return -ENODEV;
	b->port = (uint16_t)port;
	ret = rte_eth_dev_configure(b->port, 1, 1, &conf);
	if (ret == 0)
		ret = rte_eth_rx_queue_setup(b->port, 0, 512, 0, NULL, pool);
	if (ret == 0)
		ret = rte_eth_tx_queue_setup(b->port, 0, 512, 0, NULL);
	if (ret == 0)
		ret = rte_eth_dev_start(b->port);
	if (ret == 0)
		ret = rte_pktmbuf_alloc_bulk(pool, b->m, n);
	for (uint32_t i = 0; i < n && ret == 0; i++)
		ret = load_template(kind, b->m[i]);
	if (ret == 0 && rte_ring_enqueue_bulk(b->ring, (void **)b->m, n, NULL) != n)
		ret = -ENOBUFS;
	return ret;
}

/* Every packet is back, in its place. */
static bool belt_complete(const struct belt *b)
{
	struct rte_mbuf *m = NULL;

	if (rte_ring_count(b->ring) != b->n || b->lost != 0)
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		if (rte_ring_dequeue(b->ring, (void **)&m) != 0 || m != b->m[i])
			return false;
	}
	return true;
}

static int run(const struct options *o, json_t *rows)
{
	static struct belt belts[LOAD_KINDS][2]; /* hot, cold */
	static struct load loads[SIZES_MAX][2]; /* at home, moved */
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"prime", LOAD_BURST, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_mbuf *m[LOAD_BURST];
	int ret = -ENOMEM;

	if (pool == NULL || rte_pktmbuf_alloc_bulk(pool, m, LOAD_BURST) != 0)
		goto out;
	for (unsigned i = 0; i < 2 * LOAD_KINDS; i++) {
		ret = belt_init(
			&belts[i / 2][i % 2], i / 2, i % 2 ? o->cold : o->hot, o->mbuf_bytes);
		if (ret < 0)
			goto out;
	}
	for (unsigned i = 0; i < 2 * o->n_flows; i++) {
		ret = load_init(
			&loads[i / 2][i % 2], o->flows[i / 2], i % 2, o->seed + i, o->memory_mb, m);
		if (ret < 0)
			goto out;
	}
	for (unsigned cold = 0; cold < 2; cold++) {
		struct belt *ack = &belts[LOAD_ACK][cold], *wr = &belts[LOAD_WRITE][cold];

		measure(rows, o, "bare", ack, NULL, pass_bare);
		measure(rows, o, "bare", wr, NULL, pass_bare);
		measure(rows, o, "parse", ack, NULL, pass_parse);
		measure(rows, o, "parse", wr, NULL, pass_parse);
		for (unsigned i = 0; i < o->n_flows; i++) {
			measure(rows, o, "pipeline", ack, &loads[i][0], pass_pipeline);
			measure(rows, o, "pipeline", wr, &loads[i][0], pass_pipeline);
			measure(rows, o, "pipeline", wr, &loads[i][1], pass_pipeline);
			if (cold)
				continue;
			measure(rows, o, "look-up", ack, &loads[i][0], pass_lookup);
			measure(rows, o, "look-up", wr, &loads[i][0], pass_lookup);
			measure(rows, o, "engine", ack, &loads[i][0], pass_engine);
			measure(rows, o, "engine", wr, &loads[i][0], pass_engine);
		}
	}
	for (unsigned i = 0; i < 2 * LOAD_KINDS; i++) {
		if (!belt_complete(&belts[i / 2][i % 2])) {
			fprintf(stderr, "hp3-bench: packets were lost or overtook each other\n");
			return -EIO;
		}
	}
	for (unsigned i = 0; i < 2 * o->n_flows; i++) {
		const char *wrong = load_check(&loads[i / 2][i % 2]);

		if (wrong != NULL) {
			fprintf(stderr, "hp3-bench: %u flows%s: %s; figures would mean nothing\n",
				o->flows[i / 2], i % 2 ? ", moved" : "", wrong);
			return -EIO;
		}
		load_free(&loads[i / 2][i % 2]);
	}
	return 0;
out:
	fprintf(stderr,
		"hp3-bench: set-up failed: %s; raise --memory (now %u MB) or lower --flows\n",
		strerror(-ret), o->memory_mb);
	return ret;
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
