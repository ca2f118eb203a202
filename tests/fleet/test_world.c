/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded worlds: hosts of a leaf-spine fabric whose flows come, go, grow and move; reports that get
 * lost, come twice, overtake each other; hosts that start anew, clocks that are wrong, twins. Two
 * planners are given the same reports in different orders, and what they plan is held against a
 * model of the fabric of its own.
 *
 * usage: test_fleet_world [SEEDS [FIRST]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"
#include "reports.h"

#define HOSTS      24u
#define SPINES_MAX 8u
#define STEPS      80u
#define STEP_MS    1000u
#define KNOWN      (HOSTS * 3u)
#define QUEUE      (HOSTS * 6u)
#define NAMED      4096u

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			printf("seed %llu, step %u: %s:%d: %s\n", (unsigned long long)w.seed,      \
				w.step, __FILE__, __LINE__, #x);                                   \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct named {
	struct hp3_fleet_key key;
	uint64_t ms;
};

static struct {
	uint64_t seed, rng, now;
	unsigned step, leaves, spines;
	bool overtake; /* reports of a host overtake each other */
	struct hp3_fleet_params p;
	struct hp3_fleet *a, *b;
	struct hp3_fleet_report host[HOSTS];
	struct hp3_fleet_report known[KNOWN]; /* what has arrived: the latest of each instance */
	uint64_t heard[KNOWN];
	uint64_t restarted[HOSTS];
	unsigned n_known;
	struct hp3_fleet_report sent[QUEUE];
	unsigned n_sent;
	struct named named[NAMED];
	unsigned n_named;
	uint64_t moves, plans, held;
} w;

static unsigned below(unsigned n)
{
	return hp3_random_below(&w.rng, n);
}

static void begin(uint64_t seed)
{
	uint64_t moves = w.moves, plans = w.plans;

	memset(&w, 0, sizeof(w));
	w.seed = w.rng = seed;
	w.moves = moves;
	w.plans = plans;
	w.leaves = 2 + below(4);
	w.spines = 2 + below(SPINES_MAX - 1);
	w.overtake = below(2);
	w.now = 1000;
	w.p = small_fleet();
	w.p.moves = 1 + below(8);
	w.p.link_kbps = below(2) ? 0 : 100000000;
	w.a = make_fleet(&w.p);
	w.p.hash_seed = hp3_random(&w.rng);
	w.b = make_fleet(&w.p);
	MUST(w.a != NULL && w.b != NULL);
	for (unsigned i = 0; i < HOSTS; i++) {
		w.host[i] = host_report(i, i % w.leaves, w.spines);
		w.host[i].instance = hp3_random(&w.rng);
		w.restarted[i] = w.now;
		if (below(8) == 0)
			w.host[i].leaf[0] = '\0';
	}
	if (below(3) == 0)
		memcpy(w.host[1].host, w.host[0].host, sizeof(w.host[0].host));
}

static void end(void)
{
	free(w.a);
	free(w.b);
}

static void change_flow(struct hp3_fleet_flow *f)
{
	f->rate_kbps = 1 + hp3_random(&w.rng) % 50000000;
	f->marked_permille = (uint16_t)(below(3) ? 0 : below(400));
	f->flags = (below(8) ? HP3_FLEET_MOVABLE : 0) | (below(10) ? 0 : HP3_FLEET_SEVERE);
	f->marks += f->marked_permille;
	f->bytes += f->rate_kbps;
	f->settled_ms += f->settled_ms < UINT32_MAX - STEP_MS ? STEP_MS : 0;
	if (below(60) == 0) { /* told for long enough */
		f->advised = HP3_FLEET_NOT_ADVISED;
		f->advised_port = 0;
	}
}

/* A move, by the host's own wish or by a plan's: rarely does the port lead where it was said to. */
static void move(struct hp3_fleet_flow *f, unsigned spine, unsigned spines)
{
	if (spine == f->hop)
		return;
	f->hop = (uint8_t)spine;
	f->port = (uint16_t)(0xc000 + spine);
	f->settled_ms = 0;
	f->n_alts = 0;
	for (unsigned i = 0; i < spines && f->n_alts < HP3_FLEET_ALTS; i++)
		if (i != spine)
			f->alt[f->n_alts++] =
				(struct hp3_fleet_alt){(uint16_t)(0xc000 + i), (uint8_t)i};
}

/* Of two instances that come in the place of a third in one step the first one to come is heard:
 * the one case in which the order of arrival counts. */
static bool may_restart(unsigned i)
{
	bool twins = i < 2 && strcmp(w.host[0].host, w.host[1].host) == 0;

	if (twins || w.now - w.restarted[i] <= 3000 + STEP_MS)
		return false;
	w.restarted[i] = w.now;
	return true;
}

static void change_host(unsigned i)
{
	struct hp3_fleet_report *r = &w.host[i];

	r->seq++;
	r->wall_ms = hp3_random(&w.rng); /* whatever its clock says */
	if (below(60) == 0 && may_restart(i)) {
		r->instance = hp3_random(&w.rng);
		r->seq = 1;
		r->n_flows = 0;
	}
	if (r->n_flows < 6 && below(3) == 0)
		add_flow(r, below(HOSTS), (uint32_t)(hp3_random(&w.rng) & 0xffffff),
			below(w.spines), 1);
	if (r->n_flows > 0 && below(12) == 0) {
		r->flow[below(r->n_flows)] = r->flow[r->n_flows - 1];
		r->n_flows--;
	}
	for (unsigned k = 0; k < r->n_flows; k++) {
		change_flow(&r->flow[k]);
		if (below(40) == 0)
			move(&r->flow[k], below(w.spines), w.spines);
		if (below(60) == 0)
			r->flow[k].hop = HP3_FLEET_NO_HOP;
	}
	r->all_flows = r->n_flows;
}

static void send(const struct hp3_fleet_report *r)
{
	if (w.n_sent < QUEUE)
		w.sent[w.n_sent++] = *r;
}

/* Two instances of the name were there at the last look, which is when those that are silent go. */
static bool is_third(const struct hp3_fleet_report *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w.n_known; i++)
		n += strcmp(w.known[i].host, r->host) == 0 && w.now - w.heard[i] <= 3000 + STEP_MS;
	return n >= HP3_FLEET_INSTANCES;
}

/* The latest of each instance that has arrived, in a model as plain as can be. */
static void know(const struct hp3_fleet_report *r)
{
	unsigned i;

	for (i = 0; i < w.n_known; i++)
		if (w.known[i].instance == r->instance && strcmp(w.known[i].host, r->host) == 0)
			break;
	if (i == w.n_known) {
		if (is_third(r))
			return;
		for (i = 0; i < w.n_known && w.now - w.heard[i] <= 3000 + STEP_MS; i++)
			;
		MUST(i < KNOWN);
		w.n_known += i == w.n_known;
	} else if (r->seq <= w.known[i].seq) {
		return;
	}
	w.known[i] = *r;
	w.heard[i] = w.now;
}

static void deliver(void)
{
	static uint8_t bytes[HP3_FLEET_BYTES];
	static struct hp3_fleet_report back;
	unsigned order[QUEUE];

	for (unsigned i = 0; i < w.n_sent; i++) {
		size_t n = hp3_fleet_report_encode(&w.sent[i], bytes, sizeof(bytes));

		MUST(hp3_fleet_report_decode(bytes, n, &back) == 0);
		hp3_fleet_take(w.a, &back, w.now);
		know(&w.sent[i]);
		order[i] = i;
	}
	for (unsigned i = w.n_sent; i-- > 1;) {
		unsigned k = below(i + 1), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (unsigned i = 0; i < w.n_sent; i++) {
		hp3_fleet_take(w.b, &w.sent[order[i]], w.now);
		if (below(4) == 0) /* twice */
			hp3_fleet_take(w.b, &w.sent[order[below(i + 1)]], w.now);
	}
	w.n_sent = 0;
}

/* The model's fullest link, with every flow where the latest reports, and the plan, say. */
static uint64_t load[2][SPINES_MAX][SPINES_MAX + 2];

static unsigned leaf_number(const char *leaf)
{
	return *leaf == '\0' ? SPINES_MAX + 1 : (unsigned)atoi(leaf + 4);
}

static bool lives(unsigned i)
{
	return w.now - w.heard[i] <= 3000;
}

static bool is_twin(unsigned i)
{
	for (unsigned k = 0; k < w.n_known; k++)
		if (k != i && lives(k) && strcmp(w.known[k].host, w.known[i].host) == 0)
			return true;
	return false;
}

static unsigned leaf_of(const struct hp3_fleet_addr *a)
{
	int best = -1;

	for (unsigned i = 0; i < w.n_known; i++) {
		int names = best < 0 ? -1 : strcmp(w.known[i].host, w.known[best].host);

		if (lives(i) && hp3_fleet_addr_cmp(&w.known[i].addr[0], a) == 0 &&
			(names < 0 || (names == 0 && w.known[i].instance < w.known[best].instance)))
			best = (int)i;
	}
	return leaf_number(best < 0 ? "" : w.known[best].leaf);
}

static const struct hp3_fleet_move *planned(
	const struct hp3_fleet_plan *p, const struct hp3_fleet_key *key, uint64_t instance)
{
	for (unsigned i = 0; i < p->n_moves; i++)
		if (p->move[i].instance == instance && hp3_fleet_key_cmp(&p->move[i].key, key) == 0)
			return &p->move[i];
	return NULL;
}

static bool told_by_an_earlier_twin(unsigned i, const struct hp3_fleet_key *key)
{
	for (unsigned k = 0; k < w.n_known; k++) {
		if (k == i || !lives(k) || strcmp(w.known[k].host, w.known[i].host) != 0 ||
			w.known[k].instance > w.known[i].instance)
			continue;
		for (unsigned n = 0; n < w.known[k].n_flows; n++)
			if (hp3_fleet_key_cmp(&w.known[k].flow[n].key, key) == 0)
				return true;
	}
	return false;
}

static uint64_t fullest(const struct hp3_fleet_plan *p)
{
	uint64_t most = 0;

	memset(load, 0, sizeof(load));
	for (unsigned i = 0; i < w.n_known; i++) {
		const struct hp3_fleet_report *r = &w.known[i];

		for (unsigned k = 0; lives(i) && k < r->n_flows; k++) {
			const struct hp3_fleet_flow *f = &r->flow[k];
			const struct hp3_fleet_move *m =
				p != NULL ? planned(p, &f->key, r->instance) : NULL;
			unsigned hop = m != NULL ? m->to_hop.b[3] : f->hop;

			if (f->hop == HP3_FLEET_NO_HOP || told_by_an_earlier_twin(i, &f->key))
				continue;
			load[0][hop][leaf_number(r->leaf)] += f->rate_kbps;
			load[1][hop][leaf_of(&f->key.dst)] += f->rate_kbps;
		}
	}
	for (unsigned d = 0; d < 2; d++)
		for (unsigned s = 0; s < SPINES_MAX; s++)
			for (unsigned l = 0; l < SPINES_MAX + 2; l++)
				most = load[d][s][l] > most ? load[d][s][l] : most;
	return most;
}

static void check_move(const struct hp3_fleet_move *m)
{
	const struct hp3_fleet_report *r = NULL;
	const struct hp3_fleet_flow *f = NULL;
	bool offered = false;

	for (unsigned i = 0; i < w.n_known; i++)
		if (lives(i) && w.known[i].instance == m->instance) {
			r = &w.known[i];
			MUST(strcmp(r->host, m->host) == 0 && !is_twin(i));
		}
	MUST(r != NULL);
	for (unsigned i = 0; i < r->n_flows; i++)
		if (hp3_fleet_key_cmp(&r->flow[i].key, &m->key) == 0)
			f = &r->flow[i];
	MUST(f != NULL && (f->flags & HP3_FLEET_MOVABLE) && f->settled_ms >= w.p.hold_ms);
	MUST(m->from_port == f->port && f->hop != HP3_FLEET_NO_HOP);
	for (unsigned i = 0; i < f->n_alts; i++) {
		offered |= f->alt[i].port == m->to_port &&
			   r->hop[f->alt[i].hop].b[3] == m->to_hop.b[3];
		MUST(f->advised != HP3_FLEET_DECLINED || f->alt[i].port != f->advised_port ||
			r->hop[f->alt[i].hop].b[3] != m->to_hop.b[3]);
	}
	MUST(offered && m->after_kbps < m->before_kbps);
	for (unsigned i = 0; i < w.n_named; i++)
		MUST(w.named[i].ms + w.p.hold_ms <= w.now ||
			hp3_fleet_key_cmp(&w.named[i].key, &m->key) != 0);
	MUST(w.n_named < NAMED);
	w.named[w.n_named++] = (struct named){m->key, w.now};
}

static void check_plan(const struct hp3_fleet_plan *p)
{
	uint64_t before = fullest(NULL), after = fullest(p);

	MUST(p->n_moves <= w.p.moves);
	MUST(p->worst_before_kbps == before);
	MUST(p->worst_after_kbps == after);
	MUST(after <= before);
	for (unsigned i = 0; i < p->n_moves; i++)
		check_move(&p->move[i]);
	w.plans++;
	w.moves += p->n_moves;
}

static int cmp_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Links and alarms as sorted text: what of them may depend on the order of arrival is nothing. */
static unsigned links_text(const struct hp3_fleet *f, char text[][64])
{
	struct hp3_fleet_link l;
	unsigned n = 0;

	for (uint32_t i = 0; hp3_fleet_link_at(f, i, &l); i++)
		if (l.flows > 0 || l.level > 0)
			snprintf(text[n++], 64, "%s %d %u %llu %u %u %llu", l.leaf, l.down,
				l.hop.b[3], (unsigned long long)l.load_kbps, l.flows, l.level,
				(unsigned long long)l.marks);
	qsort(text, n, sizeof(text[0]), cmp_text);
	return n;
}

static void check_links(void)
{
	static char a[512][64], b[512][64];
	unsigned n = links_text(w.a, a);

	MUST(n == links_text(w.b, b));
	for (unsigned i = 0; i < n; i++)
		MUST(strcmp(a[i], b[i]) == 0);
}

static void apply_move(struct hp3_fleet_flow *f, const struct hp3_fleet_move *m)
{
	f->advised = (uint8_t)(below(3) ? HP3_FLEET_MOVED : HP3_FLEET_DECLINED);
	f->advised_port = m->to_port;
	if (f->advised == HP3_FLEET_MOVED)
		move(f, m->to_hop.b[3], w.spines);
}

/* Hosts apply most of it. */
static void apply(const struct hp3_fleet_plan *p)
{
	for (unsigned i = 0; i < p->n_moves; i++)
		for (unsigned h = 0; h < HOSTS && below(4); h++)
			for (unsigned k = 0; k < w.host[h].n_flows; k++)
				if (w.host[h].instance == p->move[i].instance &&
					hp3_fleet_key_cmp(
						&w.host[h].flow[k].key, &p->move[i].key) == 0)
					apply_move(&w.host[h].flow[k], &p->move[i]);
}

static void run(uint64_t seed)
{
	static struct hp3_fleet_plan p, q;
	static uint8_t x[HP3_FLEET_BYTES], y[HP3_FLEET_BYTES];

	begin(seed);
	for (w.step = 0; w.step < STEPS; w.step++) {
		size_t n;

		for (unsigned i = 0; i < HOSTS; i++) {
			change_host(i);
			if (below(10) == 0)
				continue; /* lost */
			send(&w.host[i]);
			if (w.overtake && below(5) == 0) {
				change_host(i);
				send(&w.host[i]);
				if (below(2) && w.n_sent >= 2) { /* the later one first */
					struct hp3_fleet_report t = w.sent[w.n_sent - 1];

					w.sent[w.n_sent - 1] = w.sent[w.n_sent - 2];
					w.sent[w.n_sent - 2] = t;
				}
			}
		}
		deliver();
		hp3_fleet_look(w.a, w.now);
		hp3_fleet_look(w.b, w.now);
		hp3_fleet_plan(w.a, 1, "p", w.now, &p);
		hp3_fleet_plan(w.b, 1, "p", w.now, &q);
		n = hp3_fleet_plan_encode(&p, x, sizeof(x));
		MUST(n > 0 && n == hp3_fleet_plan_encode(&q, y, sizeof(y)));
		MUST(memcmp(x, y, n) == 0);
		check_plan(&p);
		if (!w.overtake) /* a flow's marks count from the first report that came */
			check_links();
		apply(&p);
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
	printf("seeds %llu..%llu: %llu plans, %llu moves\n", (unsigned long long)first,
		(unsigned long long)(first + seeds - 1), (unsigned long long)w.plans,
		(unsigned long long)w.moves);
	return w.moves > seeds ? 0 : 1;
}
