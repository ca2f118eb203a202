/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded worlds with one host that reports whatever its name allows: new instances without end,
 * twins, switches that nobody has heard of, flows of other hosts, marks and rates that cannot be,
 * floods. A second planner never hears of that host. Both have to plan the same moves for the other
 * hosts and see the same loads and alarms on their links, and what the hostile host takes stays
 * within its quota. Not part of it: what it says of switches that others use is believed, as is
 * what they say; so the levels of alarms, for which those of a switch add up, may differ.
 *
 * usage: test_fleet_hostile [SEEDS [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "reports.h"

#define HONEST  12u
#define LEAVES  4u
#define SPINES  4u
#define STEPS   60u
#define STEP_MS 1000u
#define LINES   128u

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			printf("seed %llu, step %u: %s:%d: %s\n", (unsigned long long)w.seed,      \
				w.step, __FILE__, __LINE__, #x);                                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static struct {
	uint64_t seed, rng, now;
	unsigned step;
	struct hp3_fleet_params p;
	struct hp3_fleet *with, *without;
	struct hp3_fleet_report host[HONEST], evil;
	bool new_instances, new_hops, keys_of_others, floods;
	uint64_t moves, refused;
	unsigned named[STEPS]; /* how often the hostile host was named, by step */
} w;

static unsigned below(unsigned n)
{
	return hp3_random_below(&w.rng, n);
}

static void begin(uint64_t seed)
{
	uint64_t moves = w.moves, refused = w.refused;

	memset(&w, 0, sizeof(w));
	w.seed = w.rng = seed;
	w.moves = moves;
	w.refused = refused;
	w.now = 1000;
	w.p = small_fleet();
	w.p.moves = HP3_FLEET_MOVES; /* room for both */
	w.with = make_fleet(&w.p);
	w.without = make_fleet(&w.p);
	w.new_instances = below(2);
	w.new_hops = below(2);
	w.keys_of_others = below(2);
	w.floods = below(2);
	MUST(w.with != NULL && w.without != NULL);
	for (unsigned i = 0; i < HONEST; i++) {
		w.host[i] = host_report(i, i % LEAVES, SPINES);
		for (unsigned k = 0; k < 4; k++)
			add_flow(&w.host[i], below(HONEST), 100 * i + k, below(SPINES), 1);
	}
	w.evil = host_report(200, 0, 0);
	strcpy(w.evil.host, "evil");
}

static void end(void)
{
	free(w.with);
	free(w.without);
}

static void change_honest(struct hp3_fleet_report *r)
{
	r->seq++;
	for (unsigned k = 0; k < r->n_flows; k++) {
		struct hp3_fleet_flow *f = &r->flow[k];

		f->rate_kbps = 1 + hp3_random(&w.rng) % 50000000;
		f->marked_permille = (uint16_t)(below(3) ? 0 : below(100));
		f->marks += f->marked_permille;
		if (below(30) == 0) {
			f->hop = (uint8_t)below(SPINES);
			f->settled_ms = 0;
		}
		f->settled_ms += f->settled_ms < UINT32_MAX - STEP_MS ? STEP_MS : 0;
	}
}

/* Spines are 10.255.x.y: these are none. */
static struct hp3_fleet_addr any_hop(void)
{
	uint64_t n = w.new_hops ? hp3_random(&w.rng) : below(40);

	return (struct hp3_fleet_addr){
		.len = 4, .b = {172, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
}

static void change_evil_flow(struct hp3_fleet_flow *f)
{
	const struct hp3_fleet_report *other = &w.host[below(HONEST)];

	f->key.src = w.evil.addr[0];
	f->key.dst = below(2) ? host_addr(below(HONEST)) : any_hop();
	f->key.qpn = (uint32_t)hp3_random(&w.rng) & 0xffffff;
	if (w.keys_of_others)
		f->key = other->flow[below(other->n_flows)].key;
	f->port = (uint16_t)hp3_random(&w.rng);
	f->hop = (uint8_t)below(HP3_FLEET_HOPS);
	f->flags = HP3_FLEET_MOVABLE | HP3_FLEET_SEVERE;
	f->marked_permille = 1000;
	f->settled_ms = UINT32_MAX;
	f->rate_kbps = hp3_random(&w.rng) & UINT32_MAX;
	f->marks = below(2) ? hp3_random(&w.rng) : UINT64_MAX;
	f->n_alts = HP3_FLEET_ALTS;
	for (unsigned i = 0; i < f->n_alts; i++)
		f->alt[i] = (struct hp3_fleet_alt){
			(uint16_t)hp3_random(&w.rng), (uint8_t)below(HP3_FLEET_HOPS)};
}

static void change_evil(void)
{
	struct hp3_fleet_report *r = &w.evil;

	r->seq = below(10) ? r->seq + 1 : hp3_random(&w.rng);
	r->interval_ms = HP3_FLEET_INTERVAL_MS;
	if (w.new_instances)
		r->instance = hp3_random(&w.rng);
	snprintf(r->leaf, sizeof(r->leaf), "leaf%u", below(w.new_hops ? 1000000 : LEAVES));
	r->n_addrs = HP3_FLEET_ADDRS;
	for (unsigned i = 0; i < r->n_addrs; i++)
		r->addr[i] = any_hop();
	r->n_hops = HP3_FLEET_HOPS;
	for (unsigned i = 0; i < r->n_hops; i++)
		r->hop[i] = any_hop();
	r->n_flows = HP3_FLEET_FLOWS;
	for (unsigned i = 0; i < r->n_flows; i++)
		change_evil_flow(&r->flow[i]);
}

static void report(void)
{
	unsigned n = w.floods ? 64 : 4;

	for (unsigned i = 0; i < n; i++) {
		change_evil();
		w.refused += hp3_fleet_take(w.with, &w.evil, w.now) != 0;
	}
	for (unsigned i = 0; i < HONEST; i++) {
		change_honest(&w.host[i]);
		MUST(hp3_fleet_take(w.with, &w.host[i], w.now) == 0);
		MUST(hp3_fleet_take(w.without, &w.host[i], w.now) == 0);
	}
}

static int cmp_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Links of honest hosts, sorted. */
static unsigned links_text(const struct hp3_fleet *f, char text[][80])
{
	struct hp3_fleet_link l;
	unsigned n = 0;

	for (uint32_t i = 0; hp3_fleet_link_at(f, i, &l); i++) {
		if (l.hop.b[0] != 10 || (l.flows == 0 && l.level == 0))
			continue;
		MUST(n < LINES);
		snprintf(text[n++], 80, "%s %d %u: %llu kb/s %u flows, alarm %d, %llu marks",
			l.leaf, l.down, l.hop.b[3], (unsigned long long)l.load_kbps, l.flows,
			l.level != HP3_FLEET_QUIET, (unsigned long long)l.marks);
	}
	qsort(text, n, sizeof(text[0]), cmp_text);
	return n;
}

static void check_links(void)
{
	static char a[LINES][80], b[LINES][80];
	unsigned n = links_text(w.with, a);

	MUST(n > 0 && n == links_text(w.without, b));
	for (unsigned i = 0; i < n; i++)
		MUST(strcmp(a[i], b[i]) == 0);
}

static bool is_evil(const struct hp3_fleet_move *m)
{
	return strcmp(m->host, w.evil.host) == 0;
}

/* The moves of honest hosts are those that are planned without the hostile one. */
static void check_plans(const struct hp3_fleet_plan *p, const struct hp3_fleet_plan *q)
{
	unsigned k = 0;

	for (unsigned i = 0; i < p->n_moves; i++) {
		if (is_evil(&p->move[i])) {
			w.named[w.step]++;
			continue;
		}
		MUST(k < q->n_moves);
		MUST(memcmp(&p->move[i], &q->move[k++], sizeof(p->move[i])) == 0);
	}
	MUST(k == q->n_moves);
	w.moves += k;
}

static void check_quota(void)
{
	const struct hp3_fleet_counts *c = hp3_fleet_counts(w.with);
	const struct hp3_fleet_counts *d = hp3_fleet_counts(w.without);
	unsigned named = 0;

	MUST(c->hosts <= d->hosts + HP3_FLEET_INSTANCES);
	MUST(c->flows <= d->flows + HP3_FLEET_FLOWS);
	MUST(c->links <= d->links + 2 * HP3_FLEET_FLOWS);
	MUST(c->links_full == 0);
	for (unsigned i = 0; i <= w.step; i++)
		if ((w.step - i) * STEP_MS < w.p.hold_ms)
			named += w.named[i];
	MUST(named <= HP3_FLEET_FLOWS);
}

static void run(uint64_t seed)
{
	static struct hp3_fleet_plan p, q;

	begin(seed);
	for (w.step = 0; w.step < STEPS; w.step++) {
		report();
		hp3_fleet_look(w.with, w.now);
		hp3_fleet_look(w.without, w.now);
		hp3_fleet_plan(w.with, 1, "p", w.now, &p);
		hp3_fleet_plan(w.without, 1, "p", w.now, &q);
		check_links();
		check_plans(&p, &q);
		check_quota();
		w.now += STEP_MS;
	}
	end();
}

int main(int argc, char **argv)
{
	unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (unsigned i = 0; i < seeds; i++)
		run(first + i);
	printf("seeds %llu..%llu: %llu moves of honest hosts, %llu reports refused\n",
		(unsigned long long)first, (unsigned long long)(first + seeds - 1),
		(unsigned long long)w.moves, (unsigned long long)w.refused);
	return w.moves > seeds && w.refused > seeds ? 0 : 1;
}
