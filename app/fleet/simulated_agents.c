/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3-fleet-agents: simulated hosts. They send reports of a leaf-spine fabric, as agents of
 * hp3-fleet would, over a few NATS connections. Their flows move as plans advise. Users try
 * hp3-fleet with it (docs/guide/fleet.md); bench/fleet and tests/fleet/live.py load planners.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "app/bus/bus.h"
#include "base/random.h"
#include "fleet/message.h"

#define CONNECTIONS_MAX 64u
#define ELEPHANT_KBPS   10000000u
#define MARKED          100u /* of 1000, where two elephants meet */
#define UP_MS           10000u

static struct {
	const char *servers, *nkey, *nkey_seed;
	unsigned hosts, first, per_leaf, spines, flows, connections, interval_ms, seconds, burst;
	uint64_t seed;
	bool collision, apply;
} o = {.servers = "nats://127.0.0.1:4222",
	.hosts = 8,
	.per_leaf = 4,
	.spines = 4,
	.flows = 10,
	.connections = 1,
	.interval_ms = 1000,
	.seconds = 10,
	.seed = 1};

static struct {
	pthread_mutex_t lock;
	struct hp3_fleet_report *host;
	struct hp3_bus *bus[CONNECTIONS_MAX];
	uint64_t sent, dropped, bytes, bursts, plans, moves, longest_gap_ms, last_plan_ms;
	uint64_t first_full_ms,
		all_sent_ms; /* a plan of all hosts came; the first round had left */
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static struct hp3_fleet_addr host_addr(unsigned i)
{
	return (struct hp3_fleet_addr){
		.len = 4, .b = {10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
}

static void offer_others(struct hp3_fleet_flow *f, uint64_t *rng)
{
	unsigned first = hp3_random_below(rng, o.spines);

	f->n_alts = 0;
	for (unsigned i = 0; i < o.spines && f->n_alts < HP3_FLEET_ALTS; i++) {
		unsigned spine = (first + i) % o.spines;

		if (spine != f->hop)
			f->alt[f->n_alts++] =
				(struct hp3_fleet_alt){(uint16_t)(0xc000 + spine), (uint8_t)spine};
	}
}

static void add_flow(struct hp3_fleet_report *r, unsigned to, unsigned spine, uint64_t rate,
	unsigned marked, uint64_t *rng)
{
	struct hp3_fleet_flow *f = &r->flow[r->n_flows++];

	*f = (struct hp3_fleet_flow){.key = {r->addr[0], host_addr(to), 16u + r->n_flows},
		.port = (uint16_t)(0xc000 + spine),
		.hop = (uint8_t)spine,
		.flags = HP3_FLEET_MOVABLE,
		.marked_permille = (uint16_t)marked,
		.rtt_ns = 20000,
		.base_rtt_ns = 10000,
		.settled_ms = 3600000,
		.rate_kbps = rate};
	offer_others(f, rng);
}

static void make_host(unsigned i, uint64_t *rng)
{
	struct hp3_fleet_report *r = &w.host[i];

	*r = (struct hp3_fleet_report){.instance = hp3_random(rng),
		.interval_ms = o.interval_ms,
		.capability = HP3_FLEET_CAN_MOVE | HP3_FLEET_CAN_TRACE,
		.n_addrs = 1,
		.addr = {host_addr(o.first + i)},
		.n_hops = (uint8_t)o.spines};
	snprintf(r->host, sizeof(r->host), "h%u", o.first + i);
	snprintf(r->leaf, sizeof(r->leaf), "l%u", (o.first + i) / o.per_leaf);
	for (unsigned s = 0; s < o.spines; s++)
		r->hop[s] = (struct hp3_fleet_addr){.len = 4, .b = {10, 255, 0, (uint8_t)s}};
	if (o.collision && i < 2)
		add_flow(r, o.first + i + 2, 0, ELEPHANT_KBPS, MARKED, rng);
	for (unsigned k = 0; !o.collision && k < o.flows; k++)
		add_flow(r, o.first + hp3_random_below(rng, o.hosts),
			hp3_random_below(rng, o.spines), 1 + hp3_random_below(rng, ELEPHANT_KBPS),
			hp3_random_below(rng, 10) == 0 ? MARKED : 0, rng);
	r->all_flows = r->n_flows;
}

/* Under the lock. */
static void publish_report(unsigned i)
{
	struct hp3_fleet_report *r = &w.host[i];
	uint8_t bytes[HP3_FLEET_BYTES];
	char subject[HP3_FLEET_NAME + 16];
	size_t n;

	r->seq++;
	for (unsigned k = 0; k < r->n_flows; k++) {
		struct hp3_fleet_flow *f = &r->flow[k];

		f->settled_ms += o.interval_ms;
		f->bytes += f->rate_kbps * o.interval_ms / 8;
		f->marks += f->rate_kbps * o.interval_ms / 8 / 4096 * f->marked_permille / 1000;
	}
	n = hp3_fleet_report_encode(r, bytes, sizeof(bytes));
	snprintf(subject, sizeof(subject), "hp3.report.%s", r->host);
	if (hp3_bus_publish(w.bus[i % o.connections], subject, bytes, n) < 0) {
		w.dropped++;
		return;
	}
	w.sent++;
	w.bytes += n;
}

/* The flow goes where the plan says; where it was, nothing is marked any more: elephants have
 * parted. */
static void apply_move(const struct hp3_fleet_move *m)
{
	unsigned host = (unsigned)strtoul(m->host + 1, NULL, 10) - o.first;
	struct hp3_fleet_report *r = &w.host[host < o.hosts ? host : 0];
	uint64_t rng = m->instance;

	if (r->instance != m->instance)
		return;
	for (unsigned k = 0; k < r->n_flows; k++) {
		struct hp3_fleet_flow *f = &r->flow[k];

		if (hp3_fleet_key_cmp(&f->key, &m->key) != 0 || f->port != m->from_port)
			continue;
		f->hop = (uint8_t)(m->to_port - 0xc000);
		f->port = m->to_port;
		f->settled_ms = 0;
		f->marked_permille = 0;
		offer_others(f, &rng);
		w.moves++;
	}
	for (unsigned i = 0; o.collision && i < 2; i++)
		w.host[i].flow[0].marked_permille = 0;
}

static void on_plan(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	static struct hp3_fleet_plan plan;

	if (hp3_fleet_plan_decode(data, len, &plan) < 0)
		return;
	pthread_mutex_lock(&w.lock);
	if (w.last_plan_ms != 0 && now_ms() - w.last_plan_ms > w.longest_gap_ms)
		w.longest_gap_ms = now_ms() - w.last_plan_ms;
	w.last_plan_ms = now_ms();
	w.plans++;
	if (plan.hosts >= o.first + o.hosts && w.first_full_ms == 0)
		w.first_full_ms = now_ms();
	for (unsigned i = 0; o.apply && i < plan.n_moves; i++)
		apply_move(&plan.move[i]);
	pthread_mutex_unlock(&w.lock);
}

static bool connect_all(void)
{
	const struct hp3_bus_options options = {.servers = o.servers,
		.name = "hp3-fleet-agents",
		.nkey = o.nkey,
		.nkey_seed = o.nkey_seed};
	const struct timespec pause = {.tv_nsec = 1000000};
	char why[256] = "no memory";

	for (unsigned i = 0; i < o.connections; i++) {
		w.bus[i] = hp3_bus_open(&options, why, sizeof(why));
		if (w.bus[i] == NULL) {
			fprintf(stderr, "hp3-fleet-agents: %s\n", why);
			return false;
		}
		for (unsigned ms = 0; ms < UP_MS && !hp3_bus_is_up(w.bus[i]); ms++)
			nanosleep(&pause, NULL);
	}
	return hp3_bus_subscribe(w.bus[0], "hp3.plan", NULL, on_plan, NULL) == 0;
}

/* All at once: the first so many hosts, each of whose flows is on a bad path now, or no more. Under
 * the lock. */
static void send_burst(bool severe)
{
	for (unsigned i = 0; i < o.burst && i < o.hosts; i++) {
		struct hp3_fleet_report *r = &w.host[i];

		for (unsigned k = 0; k < r->n_flows; k++) {
			r->flow[k].flags &= (uint8_t)~HP3_FLEET_SEVERE;
			r->flow[k].flags |= severe ? HP3_FLEET_SEVERE : 0;
		}
		publish_report(i);
	}
	w.bursts++;
}

/* Reports are spread over the interval, as those of hosts are that know nothing of each other, in
 * steps of a millisecond; the first round leaves at once. */
static void send_reports(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t start = now_ms(), done = o.hosts, bursts = 0;

	pthread_mutex_lock(&w.lock);
	for (unsigned i = 0; i < o.hosts; i++)
		publish_report(i);
	w.all_sent_ms = now_ms();
	pthread_mutex_unlock(&w.lock);
	for (uint64_t now; (now = now_ms()) - start < o.seconds * 1000ull;) {
		uint64_t due = o.hosts + (now - start) * o.hosts / o.interval_ms;

		pthread_mutex_lock(&w.lock);
		for (; done < due; done++)
			publish_report((unsigned)(done % o.hosts));
		for (; o.burst != 0 && bursts < (now - start) / 1000; bursts++)
			send_burst(bursts % 2 == 0);
		pthread_mutex_unlock(&w.lock);
		nanosleep(&pause, NULL);
	}
}

static const char usage[] =
	"usage: hp3-fleet-agents [OPTION...]\n"
	"\n"
	"Simulates hosts of a leaf-spine fabric that report to hp3-fleet. At the end, prints a\n"
	"line of JSON: reports sent, plans and moves received.\n"
	"\n"
	"      --servers URLS     NATS servers (default nats://127.0.0.1:4222)\n"
	"      --hosts N          hosts, 4 at least (default 8)\n"
	"      --per-leaf N       hosts of each leaf (default 4)\n"
	"      --spines N         spines (default 4)\n"
	"      --flows N          flows of each host, to random hosts (default 10)\n"
	"      --collision        instead: hosts 0 and 1 send one elephant each, over spine 0,\n"
	"                         to hosts 2 and 3\n"
	"      --apply            move flows as plans advise\n"
	"      --first N          number of the first host (default 0)\n"
	"      --burst N          once a second, N hosts report severe congestion together\n"
	"      --connections N    NATS connections (default 1)\n"
	"      --interval MS      time between two reports of a host (default 1000)\n"
	"      --seconds N        length of the run (default 10)\n"
	"      --seed N           of flows and rates (default 1)\n"
	"      --nkey PUBLIC      public NKey of this user, with --nkey-seed\n"
	"      --nkey-seed FILE   file with the seed of this NKey\n"
	"      --version          print the version\n"
	"      --help             print this\n"
	"\n"
	"Exit codes: 0 done, 1 no connection to a server, 2 usage. See hp3-fleet-agents(1).\n";

static bool is_possible(void)
{
	static const struct {
		const char *option;
		const unsigned *value;
		unsigned least, most;
	} limits[] = {
		{"hosts", &o.hosts, 4, 1u << 20},
		{"per-leaf", &o.per_leaf, 1, 1u << 20},
		{"spines", &o.spines, 1, HP3_FLEET_HOPS},
		{"flows", &o.flows, 0, HP3_FLEET_FLOWS},
		{"connections", &o.connections, 1, CONNECTIONS_MAX},
		{"interval", &o.interval_ms, 1, UINT_MAX},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (*limits[i].value >= limits[i].least && *limits[i].value <= limits[i].most)
			continue;
		fprintf(stderr, "hp3-fleet-agents: --%s: set a number from %u to %u\n",
			limits[i].option, limits[i].least, limits[i].most);
		return false;
	}
	return true;
}

/* False: the program ends with the exit code *code. */
static bool parse_options(int argc, char **argv, int *code)
{
	static const struct option longs[] = {
		{"servers", required_argument, NULL, 's'},
		{"hosts", required_argument, NULL, 'h'},
		{"per-leaf", required_argument, NULL, 'l'},
		{"spines", required_argument, NULL, 'p'},
		{"flows", required_argument, NULL, 'f'},
		{"connections", required_argument, NULL, 'c'},
		{"interval", required_argument, NULL, 'i'},
		{"seconds", required_argument, NULL, 't'},
		{"first", required_argument, NULL, 'F'},
		{"burst", required_argument, NULL, 'b'},
		{"seed", required_argument, NULL, 'S'},
		{"collision", no_argument, NULL, 'C'},
		{"apply", no_argument, NULL, 'H'},
		{"nkey", required_argument, NULL, 'n'},
		{"nkey-seed", required_argument, NULL, 'N'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, '!'},
		{0},
	};
	unsigned *const numbers[] = {['h'] = &o.hosts,
		['l'] = &o.per_leaf,
		['p'] = &o.spines,
		['f'] = &o.flows,
		['c'] = &o.connections,
		['i'] = &o.interval_ms,
		['F'] = &o.first,
		['b'] = &o.burst,
		['t'] = &o.seconds};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 's')
			o.servers = optarg;
		else if (c == 'n')
			o.nkey = optarg;
		else if (c == 'N')
			o.nkey_seed = optarg;
		else if (c == 'S')
			o.seed = strtoull(optarg, NULL, 10);
		else if (c == 'C')
			o.collision = true;
		else if (c == 'H')
			o.apply = true;
		else if (c == 'V' || c == '!')
			break;
		else if (c < (int)(sizeof(numbers) / sizeof(numbers[0])) && numbers[c] != NULL)
			*numbers[c] = (unsigned)strtoul(optarg, NULL, 10);
		else
			break;
	}
	*code = c == 'V' || c == '!' ? 0 : 2;
	if (c == 'V')
		puts("hp3-fleet-agents " HP3_VERSION);
	else if (c == '!')
		fputs(usage, stdout);
	else if (c != -1 || optind < argc)
		fputs("hp3-fleet-agents: wrong usage: see hp3-fleet-agents --help\n", stderr);
	else
		return is_possible();
	return false;
}

int main(int argc, char **argv)
{
	uint64_t rng;
	int code;

	if (!parse_options(argc, argv, &code))
		return code;
	rng = o.seed;
	w.host = calloc(o.hosts, sizeof(*w.host));
	for (unsigned i = 0; w.host != NULL && i < o.hosts; i++)
		make_host(i, &rng);
	if (w.host == NULL || !connect_all())
		return 1;
	send_reports();
	pthread_mutex_lock(&w.lock);
	printf("{\"sent\":%llu,\"dropped\":%llu,\"bytes\":%llu,\"bursts\":%llu,\"plans\":%llu,"
	       "\"moves\":%llu,"
	       "\"longest_gap_ms\":%llu,\"first_round_ms\":%lld}\n",
		(unsigned long long)w.sent, (unsigned long long)w.dropped,
		(unsigned long long)w.bytes, (unsigned long long)w.bursts,
		(unsigned long long)w.plans, (unsigned long long)w.moves,
		(unsigned long long)w.longest_gap_ms,
		w.first_full_ms != 0 ? (long long)(w.first_full_ms - w.all_sent_ms) : -1LL);
	pthread_mutex_unlock(&w.lock);
	for (unsigned i = 0; i < o.connections; i++)
		hp3_bus_close(w.bus[i]);
	free(w.host);
	return 0;
}
