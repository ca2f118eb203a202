/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that agree on keys: what they do, and what is to hold. */
#include "keys_world.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/random.h"

#define TROUBLE  60000u /* ms of losses and restarts */
#define TALKS    10000u /* from one hp3_keying_begin() to the next */
#define WORDS    1000u
#define JOB_MS   100u /* at most */
#define JOB_LOST 20u /* per mille */

uint32_t keys_below(struct keys_world *w, uint32_t n)
{
	return hp3_random_below(&w->random, n);
}

bool keys_chance(struct keys_world *w, uint32_t per_mille)
{
	return per_mille != 0 && keys_below(w, 1000) < per_mille;
}

struct keys_host *keys_host_of(struct keys_world *w, const uint8_t *address)
{
	for (uint32_t i = 0; i < w->p.hosts; i++)
		if (memcmp(w->host[i].address, address, 4) == 0)
			return &w->host[i];
	return NULL;
}

struct hp3_pair_ends keys_ends(const struct keys_host *from, const struct keys_host *to)
{
	struct hp3_pair_ends ends = {0};

	ends = hp3_pair_ends_of(false, from->address, to->address);
	return ends;
}

static uint64_t clock_of(const struct keys_world *w, const struct keys_host *h)
{
	return w->now * 1000000u + h->clock;
}

static void draw(struct keys_world *w, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)hp3_random(&w->random);
}

static void has(struct keys_host *h)
{
	memcpy(h->had[h->n_had++ % KEYS_HAD], h->cfg.identity.public, HP3_PUBLIC_LEN);
}

static void new_identity(struct keys_world *w, struct keys_host *h)
{
	uint8_t seed[HP3_SEED_LEN];

	draw(w, seed, sizeof(seed));
	hp3_identity_from_seed(&h->cfg.identity, seed);
	has(h);
}

static void plan_restart(struct keys_world *w, struct keys_host *h)
{
	h->restart_at = 0;
	if (h->restarts++ < w->p.restarts)
		h->restart_at = w->now + 1 + keys_below(w, TROUBLE / w->p.restarts);
}

/* Its clocks may be anything, and what it knew is gone. */
static void start(struct keys_world *w, struct keys_host *h)
{
	draw(w, h->cfg.random, sizeof(h->cfg.random));
	h->cfg.instance = hp3_random(&w->random);
	h->cfg.born_us = hp3_random(&w->random) >> keys_below(w, 40);
	h->clock = hp3_random(&w->random) >> 8;
	memset(h->job_due, 0, sizeof(h->job_due));
	h->renew_at = 0;
	h->k = hp3_keying_create(h->mem, sizeof(h->mem), &h->cfg, &h->st);
	if (h->k == NULL)
		abort();
	plan_restart(w, h);
}

static void restart(struct keys_world *w, struct keys_host *h)
{
	if (w->p.forgets && keys_chance(w, 500))
		new_identity(w, h);
	start(w, h);
	h->off = w->p.stops && keys_chance(w, 700) ? w->now : 0;
}

void keys_take(struct keys_world *w, struct keys_host *h, const struct keys_frame *f)
{
	struct hp3_keying_message out;
	struct hp3_view v;
	const struct hp3_parsed frame = {f->b, f->len, &v};

	if (h->off != 0)
		return;
	hp3_parse(f->b, f->len, &v);
	if (hp3_keying_take(h->k, &frame, clock_of(w, h), &out) == HP3_KEYING_ANSWER)
		keys_send(w, &out);
}

static void do_jobs(struct keys_world *w, struct keys_host *h)
{
	bool none = false; /* there is no job until one is done */

	for (uint32_t i = 0; i < KEYS_JOBS; i++) {
		struct hp3_keying_message out;

		if (h->job_due[i] == 0 && !none)
			none = !hp3_keying_job(h->k, clock_of(w, h), &h->job[i]);
		if (h->job_due[i] == 0 && !none) {
			h->job_due[i] = w->now + 1 + keys_below(w, JOB_MS);
			if (!w->calm && keys_chance(w, JOB_LOST)) {
				h->job_due[i] = 0;
				w->r.lost++;
			}
		}
		if (h->job_due[i] == 0 || h->job_due[i] > w->now)
			continue;
		h->job_due[i] = 0;
		none = false;
		hp3_keying_compute(&h->job[i]);
		if (hp3_keying_done(h->k, &h->job[i], clock_of(w, h), &out))
			keys_send(w, &out);
	}
}

static void handle_events(struct keys_world *w, struct keys_host *h)
{
	struct hp3_keying_event event;

	while (hp3_keying_event(h->k, &event))
		if (event.kind == HP3_KEYING_CLONED && event.change && h->renew_at == 0)
			h->renew_at = w->now + 1 + keys_below(w, 3000);
	if (h->renew_at == 0 || h->renew_at > w->now)
		return;
	h->renew_at = 0;
	new_identity(w, h);
	hp3_keying_become(h->k, &h->cfg.identity, clock_of(w, h));
}

/* A message under the key of the pair, as probes and reports are. */
static void say(struct keys_world *w, struct keys_host *from, struct keys_host *to)
{
	struct hp3_pair_ends ends = keys_ends(from, to);
	const uint8_t *key = hp3_keying_find(from->k, &ends);
	struct keys_message *message = &w->message[w->n_messages];

	if (key == NULL || w->n_messages == KEYS_AIR || (!w->calm && keys_chance(w, w->p.loss)))
		return;
	w->n_messages++;
	*message = (struct keys_message){.due = w->now + 1 + keys_below(w, 20), .ends = ends};
	memcpy(message->key, key, sizeof(message->key));
}

static void talk(struct keys_world *w, uint32_t i)
{
	for (uint32_t j = 0; j < w->p.hosts; j++) {
		const struct hp3_pair_ends *ends = &w->host[i].to[j];
		uint64_t at = w->now + 137 * i + 31 * j;

		if (i != j && (at % TALKS == 0 || hp3_keying_find(w->host[i].k, ends) == NULL))
			hp3_keying_begin(w->host[i].k, ends, 0, clock_of(w, &w->host[i]));
		if (i != j && !w->p.quiet && at % WORDS == 0)
			say(w, &w->host[i], &w->host[j]);
	}
}

/* Nobody is at any of these addresses. */
static void talk_to_crowd(struct keys_world *w, struct keys_host *h)
{
	struct hp3_pair_ends ends = keys_ends(h, h);

	if (w->p.crowd == 0 || w->now % 50 != 0)
		return;
	ends.dst[3] = (uint8_t)(100 + keys_below(w, w->p.crowd));
	hp3_keying_begin(h->k, &ends, 0, clock_of(w, h));
}

static void live(struct keys_world *w, uint32_t i)
{
	struct keys_host *h = &w->host[i];
	struct hp3_keying_message out;

	if (h->restart_at != 0 && w->now >= h->restart_at)
		restart(w, h);
	if (h->off != 0 && w->calm)
		h->off = 0;
	if (h->off != 0)
		return;
	talk(w, i);
	talk_to_crowd(w, h);
	while (hp3_keying_tick(h->k, clock_of(w, h), &out))
		keys_send(w, &out);
	do_jobs(w, h);
	handle_events(w, h);
}

static bool had(const struct keys_host *h, const uint8_t *public)
{
	for (uint32_t i = 0; i < h->n_had && i < KEYS_HAD; i++)
		if (memcmp(h->had[i], public, HP3_PUBLIC_LEN) == 0)
			return true;
	return false;
}

/* A pair of hosts: both have a key, with who the other one is now. */
static bool is_settled(struct keys_world *w, struct keys_host *a, struct keys_host *b)
{
	struct hp3_pair_ends there = keys_ends(a, b), back = keys_ends(b, a);
	const uint8_t *out, *in;

	out = hp3_keying_find(a->k, &there);
	in = hp3_keying_find(b->k, &there);
	if (out == NULL || in == NULL || memcmp(out, in, HP3_KEY_LEN) != 0)
		return false;
	out = hp3_keying_find(b->k, &back);
	in = hp3_keying_find(a->k, &back);
	return memcmp(out, in, HP3_KEY_LEN) == 0;
}

static void check(struct keys_world *w, struct keys_host *h)
{
	struct hp3_keying_info info;
	uint32_t at = 0;

	while (hp3_keying_list(h->k, &at, &info, 1) == 1) {
		struct keys_host *of = keys_host_of(w, info.ends.dst);

		if (info.state != HP3_KEYING_HAS_KEY)
			continue;
		if (of->off != 0 && h->off == 0 && w->now - of->off > KEYS_DEAF)
			w->violation = "a key with a host that agrees on none";
		if (!had(of, info.public))
			w->violation = "a key with an identity that the peer never had";
		else if (w->calm &&
			 memcmp(info.public, of->cfg.identity.public, HP3_PUBLIC_LEN) == 0) {
			struct hp3_pair_ends back = keys_ends(of, h);
			struct hp3_keying_info other;
			uint32_t i = 0;

			while (hp3_keying_list(of->k, &i, &other, 1) == 1)
				if (hp3_pair_ends_compare(&other.ends, &back) == 0 &&
					other.state == HP3_KEYING_HAS_KEY &&
					memcmp(other.public, h->cfg.identity.public,
						HP3_PUBLIC_LEN) == 0 &&
					!is_settled(w, h, of))
					w->violation = "two keys of one pair";
		}
	}
}

static void check_all(struct keys_world *w)
{
	for (uint32_t i = 0; i < w->p.hosts && w->violation == NULL; i++)
		check(w, &w->host[i]);
}

static void check_settled(struct keys_world *w)
{
	for (uint32_t i = 0; i < w->p.hosts; i++)
		for (uint32_t j = 0; j < i; j++)
			if (w->violation == NULL && !is_settled(w, &w->host[i], &w->host[j]))
				w->violation = "a pair without a key";
}

static void sum_up(struct keys_world *w)
{
	for (uint32_t i = 0; i < w->p.hosts; i++) {
		const struct hp3_keying_stats *s = &w->host[i].st;

		w->r.replaced += s->replaced;
		w->r.silent += s->silent;
		w->r.displaced += s->displaced;
		w->r.cloned += s->cloned;
		w->r.computed += s->computed;
		w->r.stray += s->stray;
		w->r.bad_proof += s->bad_proof + s->late_bad_proof;
		w->r.others_refused += s->others_refused;
	}
}

static void begin(struct keys_world *w, const struct keys_params *p)
{
	w->p = *p;
	w->random = p->seed;
	w->now = 1000;
	for (uint32_t i = 0; i < p->hosts; i++) {
		struct keys_host *h = &w->host[i];

		h->cfg = (struct hp3_keying_config){.port = HP3_PROBE_PORT,
			.peers = 8,
			.jobs = {HP3_KEYING_JOBS, HP3_KEYING_JOBS},
			.cookies = {HP3_KEYING_COOKIES, HP3_KEYING_COOKIES}};
		h->address[0] = 10;
		h->address[3] = (uint8_t)(1 + i);
		new_identity(w, h);
		if (p->clones && i == 1) {
			h->cfg.identity = w->host[0].cfg.identity;
			has(h);
		}
		start(w, h);
	}
	for (uint32_t i = 0; i < p->hosts; i++)
		for (uint32_t j = 0; j < p->hosts; j++)
			w->host[i].to[j] = keys_ends(&w->host[i], &w->host[j]);
}

int keys_world_run(const struct keys_params *p, struct keys_result *r)
{
	struct keys_world *w = aligned_alloc(_Alignof(struct keys_world), sizeof(*w));

	if (w == NULL)
		abort();
	memset(w, 0, sizeof(*w));
	begin(w, p);
	for (uint64_t end = w->now + TROUBLE + KEYS_SETTLE; w->now < end && !w->violation;
		w->now++) {
		w->calm = w->now > 1000 + TROUBLE;
		keys_deliver(w);
		for (uint32_t i = 0; i < p->hosts; i++)
			live(w, i);
		keys_attack(w);
		if (w->now % 16 == 0)
			check_all(w);
	}
	check_settled(w);
	sum_up(w);
	if (w->violation != NULL)
		fprintf(stderr, "seed %llu, %llu ms: %s\n", (unsigned long long)p->seed,
			(unsigned long long)w->now, w->violation);
	*r = w->r;
	int err = w->violation != NULL ? -1 : 0;
	free(w);
	return err;
}
