/* SPDX-License-Identifier: BSD-3-Clause */
#include "keying_hosts.h"
#include <stdlib.h>
#include "base/random.h"

#define PEERS 8u

static void draw(uint8_t *bytes, size_t n, uint64_t *random)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)hp3_random(random);
}

void host_begin_again(struct host *h, const struct hp3_identity *identity, uint64_t seed)
{
	uint8_t bytes[HP3_SEED_LEN];

	draw(bytes, sizeof(bytes), &seed);
	if (identity != NULL)
		h->cfg.identity = *identity;
	else
		hp3_identity_from_seed(&h->cfg.identity, bytes);
	draw(h->cfg.random, sizeof(h->cfg.random), &seed);
	h->cfg.instance = hp3_random(&seed);
	h->k = hp3_keying_create(h->mem, sizeof(h->mem), &h->cfg, &h->st);
	if (h->k == NULL)
		abort();
}

void host_begin(struct host *h, uint8_t number, uint64_t seed)
{
	const uint8_t address[4] = {10, 9, 0, number};

	memset(h, 0, sizeof(*h));
	memcpy(h->address, address, sizeof(address));
	h->cfg = (struct hp3_keying_config){.port = HP3_PROBE_PORT,
		.peers = PEERS,
		.jobs = {HP3_KEYING_JOBS, HP3_KEYING_JOBS},
		.cookies = {HP3_KEYING_COOKIES, HP3_KEYING_COOKIES}};
	host_begin_again(h, NULL, seed);
}

bool host_talks_to(struct host *from, const struct host *to, uint64_t now)
{
	const struct hp3_pair_ends ends = ends_between(from, to);

	return hp3_keying_begin(from->k, &ends, from->vlan, now);
}

struct hp3_pair_ends ends_between(const struct host *from, const struct host *to)
{
	struct hp3_pair_ends ends = {0};

	ends = hp3_pair_ends_of(false, from->address, to->address);
	return ends;
}

void frame_of(const struct hp3_keying_message *m, struct frame *f)
{
	frame_from(m, HP3_HANDSHAKE_PORT, f);
}

void frame_from(const struct hp3_keying_message *m, uint16_t sport, struct frame *f)
{
	struct hp3_addressing a = flow_addressing(m->to.ipv6, sport);
	int n;

	hp3_tags_make(m->vlan, 0, a.tag);
	memcpy(a.src_ip, m->to.src, sizeof(a.src_ip));
	memcpy(a.dst_ip, m->to.dst, sizeof(a.dst_ip));
	n = hp3_build_udp(f->b, sizeof(f->b), &a, HP3_PROBE_PORT, m->bytes, (uint16_t)m->len);
	if (n < 0)
		abort();
	f->len = (uint32_t)n;
	reparse(f);
}

void put_in_vlan(struct frame *f, uint32_t vlan)
{
	const uint32_t tags = f->v.l3_off - 14u;
	struct hp3_addressing a;
	uint8_t bytes[sizeof(f->b)];
	uint32_t n = 12;

	hp3_tags_make(vlan, 0, a.tag);
	memcpy(bytes, f->b, n);
	for (uint32_t i = 0; i < HP3_TAGS_MAX && a.tag[i].tpid != 0; i++, n += HP3_TAG_LEN) {
		hp3_put_be16(bytes + n, a.tag[i].tpid);
		hp3_put_be16(bytes + n + 2, a.tag[i].tci);
	}
	memcpy(bytes + n, f->b + 12 + tags, f->len - 12 - tags);
	f->len += n - 12 - tags;
	memcpy(f->b, bytes, f->len);
	reparse(f);
}

bool host_take(struct host *h, const struct frame *f, uint64_t now, struct hp3_keying_message *out)
{
	return hp3_keying_take(h->k, PARSED(f), now, out) == HP3_KEYING_ANSWER;
}

bool host_job(struct host *h, uint64_t now, bool *any, struct hp3_keying_message *out)
{
	struct hp3_keying_job job;

	*any = hp3_keying_job(h->k, now, &job);
	if (!*any)
		return false;
	hp3_keying_compute(&job);
	return hp3_keying_done(h->k, &job, now, out);
}

bool have_a_key(const struct host *a, const struct host *b)
{
	const struct hp3_pair_ends there = ends_between(a, b), back = ends_between(b, a);
	const uint8_t *a_out = hp3_keying_find(a->k, &there), *a_in = hp3_keying_find(a->k, &back);
	const uint8_t *b_in = hp3_keying_find(b->k, &there), *b_out = hp3_keying_find(b->k, &back);

	return a_out != NULL && b_out != NULL && memcmp(a_out, b_in, HP3_KEY_LEN) == 0 &&
	       memcmp(a_in, b_out, HP3_KEY_LEN) == 0 && memcmp(a_in, a_out, HP3_KEY_LEN) != 0;
}

struct hp3_keying_info info_of(const struct host *at, const struct host *of)
{
	const struct hp3_pair_ends ends = ends_between(at, of);
	struct hp3_keying_info info;
	uint32_t i = 0;

	while (hp3_keying_list(at->k, &i, &info, 1) == 1)
		if (hp3_pair_ends_compare(&info.ends, &ends) == 0)
			return info;
	return (struct hp3_keying_info){.state = HP3_KEYING_NO_PEER};
}

bool host_sends(struct host *from, uint64_t now, struct frame *f)
{
	struct hp3_keying_message m;
	bool any;

	if (!host_job(from, now, &any, &m) && !hp3_keying_tick(from->k, now, &m))
		return false;
	frame_of(&m, f);
	return true;
}

bool host_answers(struct host *h, uint64_t now, struct frame *f)
{
	struct hp3_keying_message m;

	if (!host_take(h, f, now, &m))
		return false;
	frame_of(&m, f);
	return true;
}

/* A message, its answer, the answer to that, ... */
static void carry(struct host *from, struct host *to, struct hp3_keying_message *m, uint64_t now)
{
	struct frame f;

	for (;;) {
		struct host *turn = from;

		frame_of(m, &f);
		put_in_vlan(&f, to->vlan);
		if (!host_take(to, &f, now, m))
			return;
		from = to;
		to = turn;
	}
}

static bool one_sends(struct host *from, struct host *to, uint64_t now)
{
	struct hp3_keying_message m;
	bool any;

	if (hp3_keying_tick(from->k, now, &m) || host_job(from, now, &any, &m)) {
		carry(from, to, &m, now);
		return true;
	}
	return any;
}

void talk(struct host *a, struct host *b, uint64_t now)
{
	while (one_sends(a, b, now) || one_sends(b, a, now))
		;
}

void talk_until(struct host *a, struct host *b, uint64_t *now, uint64_t until)
{
	for (; *now <= until; *now += MS)
		talk(a, b, *now);
}

bool stats_add_up(const struct hp3_keying_stats *s)
{
	return s->messages == s->other_version + s->bad_form + s->unprivileged + s->unknown_peers +
				      s->other_vlan + s->cookies + s->cookies_refused +
				      s->cookies_taken + s->stray + s->flooded + s->answered +
				      s->to_compute + s->computing + s->busy + s->over_budget +
				      s->others_refused + s->bad_proof + s->proven;
}
