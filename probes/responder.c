/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/responder.h"

#define WAYS 8u

struct source {
	uint64_t print; /* hash of the address; 0: free */
	uint64_t spent_until;
	uint32_t turn; /* answers so far */
};

struct hp3_responder {
	struct hp3_responder_config cfg;
	struct hp3_probe_key source_key;
	struct hp3_probe_stats *stats;
	struct hp3_window window;
	uint64_t spent_until; /* by all */
	struct source *source;
};

static size_t aligned(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static bool power_of_two(uint32_t n)
{
	return n >= WAYS && (n & (n - 1)) == 0;
}

static bool limits_ok(const struct hp3_responder_config *cfg)
{
	return cfg->clock_s <= HP3_CLOCK_S_MAX && cfg->source.rate && cfg->source.burst &&
	       cfg->all.rate && cfg->all.burst;
}

size_t hp3_responder_size(const struct hp3_responder_config *cfg)
{
	if (!limits_ok(cfg) || !power_of_two(cfg->sources) || !power_of_two(cfg->window))
		return 0;
	return aligned(sizeof(struct hp3_responder)) + sizeof(uint64_t) * cfg->window +
	       sizeof(struct source) * cfg->sources;
}

struct hp3_responder *hp3_responder_create(void *mem, size_t size,
	const struct hp3_responder_config *cfg, struct hp3_probe_stats *stats)
{
	size_t want = hp3_responder_size(cfg);
	struct hp3_responder *r = mem;
	uint8_t *p = mem;

	if (want == 0 || size < want || (uintptr_t)mem % 64 != 0)
		return NULL;
	memset(mem, 0, want);
	p += aligned(sizeof(*r));
	r->cfg = *cfg;
	hp3_put_be64(r->source_key.bytes, cfg->seed);
	r->stats = stats;
	r->window.place = (uint64_t *)(void *)p;
	r->window.sets = cfg->window / HP3_WINDOW_WAYS;
	r->window.span = cfg->clock_s;
	r->source = (struct source *)(void *)(p + sizeof(uint64_t) * cfg->window);
	return r;
}

int hp3_responder_reconfigure(struct hp3_responder *r, const struct hp3_responder_config *cfg)
{
	if (!limits_ok(cfg))
		return -EINVAL;
	r->cfg.key = cfg->key;
	r->cfg.source = cfg->source;
	r->cfg.all = cfg->all;
	r->cfg.clock_s = r->window.span = cfg->clock_s;
	return 0;
}

/* The record of the source, or one that can be given up without losing anything; else NULL. */
static struct source *source_of(
	struct hp3_responder *r, const void *frame, const struct hp3_view *v, uint64_t now)
{
	struct hp3_addressing a, from = {.ipv6 = v->flags & HP3_VF_IPV6};
	struct source *free = NULL, *s;
	uint64_t print;

	hp3_addressing_same(frame, v, &a);
	memcpy(from.src_ip, a.src_ip, sizeof(from.src_ip));
	print = hp3_tag(&r->source_key, HP3_TAG_SOURCE, &from, 0, "", 0) | 1;
	s = &r->source[(print >> 32 & (r->cfg.sources / WAYS - 1)) * WAYS];
	for (struct source *end = s + WAYS; s < end; s++) {
		if (s->print == print)
			return s;
		if (s->spent_until <= now && (!free || s->spent_until < free->spent_until))
			free = s;
	}
	if (free)
		*free = (struct source){.print = print};
	return free;
}

static enum hp3_respond_fate drop(uint64_t *counter)
{
	++*counter;
	return HP3_RESPOND_DROP;
}

static bool on_time(const struct hp3_responder *r, const struct hp3_peer_probe *p, uint64_t clock)
{
	uint64_t apart = p->time > clock ? p->time - clock : clock - p->time;

	return !hp3_probe_keyed(&r->cfg.key) || apart <= r->cfg.clock_s;
}

enum hp3_respond_fate hp3_responder_take(struct hp3_responder *r, const void *frame,
	const struct hp3_view *v, uint64_t clock, uint64_t now, struct hp3_answer *answer,
	uint32_t *turn)
{
	struct hp3_probe_stats *st = r->stats;
	struct hp3_peer_probe p;
	struct source *s;
	uint64_t hash;
	int64_t place;
	int err;

	if (!hp3_peer_is(frame, v))
		return HP3_RESPOND_PASS;
	st->peer_probes++;
	err = hp3_peer_read(frame, v, &r->cfg.key, clock, &p, &hash);
	if (err < 0)
		return drop(err == -EBADMSG ? &st->bad_icrc : &st->bad_tag);
	if (!on_time(r, &p, clock))
		return drop(&st->bad_clock);
	place = hp3_window_look(&r->window, hash, clock);
	if (place == -EEXIST)
		return drop(&st->replayed);
	s = source_of(r, frame, v, now);
	if (s == NULL)
		return drop(&st->sources_full);
	if (!hp3_limit_ready(&r->cfg.source, s->spent_until, now))
		return drop(&st->flood_source);
	if (!hp3_limit_ready(&r->cfg.all, r->spent_until, now))
		return drop(&st->flood_all);
	if (place < 0)
		return drop(&st->window_full);

	hp3_limit_spend(&r->cfg.source, &s->spent_until, now);
	hp3_limit_spend(&r->cfg.all, &r->spent_until, now);
	hp3_window_keep(&r->window, place, hash, hp3_probe_keyed(&r->cfg.key) ? p.time : clock);
	*answer = (struct hp3_answer){.id = p.id, .ce = v->flags & HP3_VF_CE, .stamp_ns = now};
	if (p.report) {
		st->reports++;
		return HP3_RESPOND_REPORT;
	}
	*turn = s->turn++;
	st->answered++;
	return HP3_RESPOND_ANSWER;
}
