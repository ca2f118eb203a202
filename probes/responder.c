/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/responder.h"

#define WAYS          8u
#define UNKNOWN_SHARE 16u /* a bucket gets this part of the rate of all unknown sources: 1/16 */

struct source {
	uint64_t print; /* hash of the address; 0: free */
	uint64_t spent_until;
};

struct hp3_responder {
	struct hp3_responder_config cfg;
	struct hp3_probe_key source_key;
	struct hp3_probe_stats *stats;
	struct hp3_window window;
	uint64_t spent_until; /* state of the limit of all sources */
	uint64_t unknown_until; /* state of the limit of all unknown sources */
	uint64_t unknown[HP3_RESPONDER_UNKNOWN];
	struct source *source;
};

static size_t align_record(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static bool power_of_two(uint32_t n)
{
	return n >= WAYS && (n & (n - 1)) == 0;
}

static bool limits_ok(const struct hp3_responder_config *cfg)
{
	return cfg->clock_s <= HP3_CLOCK_S_MAX && cfg->dscp <= HP3_DSCP_KEPT && cfg->source.rate &&
	       cfg->source.burst && cfg->all.rate && cfg->all.burst && cfg->unknown.rate &&
	       cfg->unknown.burst;
}

size_t hp3_responder_size(const struct hp3_responder_config *cfg)
{
	if (!limits_ok(cfg) || !power_of_two(cfg->sources) || !power_of_two(cfg->window))
		return 0;
	return align_record(sizeof(struct hp3_responder)) + sizeof(uint64_t) * cfg->window +
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
	p += align_record(sizeof(*r));
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
	r->cfg.keys = cfg->keys;
	r->cfg.source = cfg->source;
	r->cfg.all = cfg->all;
	r->cfg.unknown = cfg->unknown;
	r->cfg.dscp = cfg->dscp;
	r->cfg.clock_s = r->window.span = cfg->clock_s;
	return 0;
}

static uint64_t print_of_source(const struct hp3_responder *r, const struct hp3_addressing *a)
{
	struct hp3_addressing from = {.ipv6 = a->ipv6};

	memcpy(from.src_ip, a->src_ip, sizeof(from.src_ip));
	return hp3_tag(&r->source_key, &(struct hp3_tag_input){HP3_TAG_SOURCE, &from, 0, "", 0}) |
	       1;
}

/*
 * The sender of a probe can compute the probe's hash. So the set of the window depends on the
 * secret seed, too.
 */
static uint64_t place_hash(const struct hp3_responder *r, uint64_t hash)
{
	static const struct hp3_addressing none;

	return hp3_tag(&r->source_key,
		&(struct hp3_tag_input){HP3_TAG_SOURCE, &none, 0, &hash, sizeof(hash)});
}

/*
 * The record of the source, or one whose bucket is full, because its reuse changes nothing; NULL:
 * neither.
 */
static struct source *source_of(struct hp3_responder *r, uint64_t print, uint64_t now)
{
	struct source *free = NULL, *s;

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

static enum hp3_respond_fate drop_probe(uint64_t *counter)
{
	++*counter;
	return HP3_RESPOND_DROP;
}

/*
 * The sender of a message. `keyed`: the sender and this host have a key, so valid messages have a
 * right tag. `known`: the local RNIC has a connection with the sender.
 */
struct sender {
	const struct hp3_addressing *a;
	bool keyed, known;
};

static uint64_t seconds_of(const struct hp3_peer_probe *p)
{
	return p->report ? p->time / 1000000 : p->time;
}

static bool on_time(
	const struct hp3_responder *r, const struct sender *from, uint64_t time, uint64_t clock)
{
	uint64_t apart = time > clock ? time - clock : clock - time;

	return !from->keyed || apart <= r->cfg.clock_s;
}

/* May hp3d answer an unknown source? If so, consumes the tokens. */
static bool spend_unknown(struct hp3_responder *r, uint64_t print, uint64_t now)
{
	const struct hp3_limit *all = &r->cfg.unknown;
	struct hp3_limit one = {hp3_max_u32(all->rate / UNKNOWN_SHARE, 1),
		hp3_max_u32(all->burst / UNKNOWN_SHARE, 1)};
	uint64_t *bucket = &r->unknown[(print >> 32) % HP3_RESPONDER_UNKNOWN];

	if (!hp3_limit_ready(&one, *bucket, now) || !hp3_limit_ready(all, r->unknown_until, now))
		return false;
	hp3_limit_spend(&one, bucket, now);
	hp3_limit_spend(all, &r->unknown_until, now);
	return true;
}

/* NULL, or the counter of the rate limit that refuses the probe. If NULL, consumes the tokens. */
static uint64_t *refusing_limit(struct hp3_responder *r, const struct sender *from, uint64_t now)
{
	uint64_t print = print_of_source(r, from->a);
	struct source *s = NULL;

	if (from->keyed || from->known) {
		s = source_of(r, print, now);
		if (s == NULL)
			return &r->stats->sources_full;
		if (!hp3_limit_ready(&r->cfg.source, s->spent_until, now))
			return &r->stats->flood_source;
	}
	if (!hp3_limit_ready(&r->cfg.all, r->spent_until, now))
		return &r->stats->flood_all;
	if (s == NULL && !spend_unknown(r, print, now))
		return &r->stats->flood_unknown;
	hp3_limit_spend(&r->cfg.all, &r->spent_until, now);
	if (s != NULL)
		hp3_limit_spend(&r->cfg.source, &s->spent_until, now);
	return NULL;
}

/* NULL, or the counter of the check that the packet fails. Consumes no tokens. */
static uint64_t *failed_check(struct hp3_responder *r, int err, const struct sender *from,
	const struct hp3_peer_probe *p, uint64_t clock)
{
	if (err == -EPROTONOSUPPORT)
		return &r->stats->other_version;
	if (err < 0)
		return err == -EBADMSG ? &r->stats->bad_probe_icrc : &r->stats->bad_tag;
	if (p->report && !from->keyed)
		return &r->stats->reports_unkeyed;
	if (!on_time(r, from, seconds_of(p), clock))
		return &r->stats->bad_clock;
	return NULL;
}

/* NULL, or the counter of the reason to refuse a report that may be a replay. */
static uint64_t *report_replayed(struct hp3_responder *r, const struct hp3_peer_probe *p,
	const struct hp3_addressing *a, uint64_t clock)
{
	const struct hp3_heard_time time = {clock, r->cfg.clock_s};

	switch (hp3_heard_take(r->cfg.heard, a, HP3_TAG_PROBE, p->time, &time)) {
	case HP3_HEARD_NEW:
		return NULL;
	case HP3_HEARD_CLOCK:
		return &r->stats->bad_clock;
	case HP3_HEARD_OLD:
		return &r->stats->reports_old;
	case HP3_HEARD_AGAIN:
		return &r->stats->replayed;
	default:
		return &r->stats->window_full;
	}
}

/* Place in the window for a probe or a question; -EEXIST, -ENOSPC: as hp3_window_look(). */
static int64_t place_of_probe(
	const struct hp3_responder *r, const struct sender *from, uint64_t *hash, uint64_t clock)
{
	*hash = place_hash(r, *hash);
	return hp3_window_look(&r->window, *hash, clock, from->keyed || from->known);
}

enum hp3_respond_fate hp3_responder_take(struct hp3_responder *r, const struct hp3_parsed *f,
	bool known, const struct hp3_times *at, struct hp3_answer *answer)
{
	struct hp3_peer_probe p;
	struct hp3_addressing a;
	struct sender from;
	uint64_t *why;
	int64_t place = 0;
	int err;

	if (!hp3_peer_is(f->bytes, f->v))
		return HP3_RESPOND_PASS;
	r->stats->peer_probes++;
	hp3_addressing_same(f->bytes, f->v, &a);
	from = (struct sender){&a, hp3_pair_keyed(&r->cfg.keys.key[0], &a), known};
	err = hp3_peer_read(f, &r->cfg.keys, at->clock, &p);
	why = failed_check(r, err, &from, &p, at->clock);
	if (why != NULL)
		return drop_probe(why);
	if (p.report) {
		why = report_replayed(r, &p, &a, at->clock);
	} else {
		place = place_of_probe(r, &from, &p.hash, at->clock);
		if (place < 0)
			why = place == -EEXIST ? &r->stats->replayed : &r->stats->window_full;
	}
	if (why != NULL)
		return drop_probe(why);
	why = refusing_limit(r, &from, at->now);
	if (why != NULL)
		return drop_probe(why);
	if (!p.report)
		hp3_window_keep(&r->window, place, p.hash, from.keyed ? p.time : at->clock);
	*answer = (struct hp3_answer){
		.id = p.id, .key = p.key, .dscp = r->cfg.dscp, .ce = f->v->flags & HP3_VF_CE};
	if (p.report) {
		r->stats->reports_accepted++;
		return HP3_RESPOND_REPORT;
	}
	r->stats->answered++;
	r->stats->old_key += p.key;
	return HP3_RESPOND_ANSWER;
}

bool hp3_responder_hello(struct hp3_responder *r, const struct hp3_addressing *a,
	const struct hp3_hello *ask, bool known, const struct hp3_times *at)
{
	const struct sender from = {a, hp3_probe_keyed(&r->cfg.keys.key[0]), known};
	uint64_t time = ask->clock_us / 1000000, hash = ask->hash;
	int64_t place;

	r->stats->hellos++;
	if (!on_time(r, &from, time, at->clock)) {
		r->stats->hellos_bad_clock++;
		return false;
	}
	place = place_of_probe(r, &from, &hash, at->clock);
	if (place < 0) {
		r->stats->hellos_replayed++;
		return false;
	}
	if (refusing_limit(r, &from, at->now) != NULL) {
		r->stats->hellos_flood++;
		return false;
	}
	hp3_window_keep(&r->window, place, hash, from.keyed ? time : at->clock);
	r->stats->hellos_answered++;
	return true;
}
