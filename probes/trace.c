/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "base/names.h"
#include "probes/trace.h"
#include "roce/icrc.h"

#define SLOT_MASK (HP3_TRACES_MAX - 1) /* low bits of an id: the slot; the others are random */

enum { SLOT_FREE, SLOT_OPEN, SLOT_LATE /* timed out, but a late message may still arrive */ };

void hp3_tracer_init(struct hp3_tracer *t, const struct hp3_trace_params *params, uint64_t seed,
	struct hp3_probe_stats *stats)
{
	memset(t, 0, sizeof(*t));
	t->params = *params;
	t->stats = stats;
	hp3_put_be64(t->random.bytes, seed);
	hp3_put_be64(t->random.bytes + 8, ~seed);
}

static bool same_ends(const struct hp3_trace_slot *s, bool ipv6, const uint8_t *src,
	const uint8_t *dst, uint16_t port)
{
	size_t address = ipv6 ? 16 : 4;

	return s->state != SLOT_FREE && s->ipv6 == ipv6 && s->port == port &&
	       !memcmp(s->src, src, address) && !memcmp(s->dst, dst, address);
}

/*
 * An unpredictable id. Its low bits are the slot, because the IPv4 identification has room for only
 * the low 16 bits.
 */
static uint32_t draw_id(struct hp3_tracer *t, const struct hp3_addressing *a, uint32_t slot)
{
	uint64_t n = t->drawn++;
	const struct hp3_tag_input in = {HP3_TAG_RANDOM, a, 0, &n, sizeof(n)};

	return ((uint32_t)hp3_tag(&t->random, &in) & ~SLOT_MASK) | slot;
}

static int find_slot(const struct hp3_tracer *t, const struct hp3_addressing *a)
{
	int free = -ENOSPC;

	for (uint32_t i = HP3_TRACES_MAX; i-- > 0;) {
		const struct hp3_trace_slot *s = &t->slot[i];

		if (same_ends(s, a->ipv6, a->src_ip, a->dst_ip, a->sport))
			return -EALREADY;
		if (s->state == SLOT_FREE)
			free = (int)i;
	}
	return free;
}

/* Changes the opcode. The receiver's RNIC drops the packet as it drops a probe (rule 1). */
static void set_opcode(uint8_t *frame, int len, uint8_t opcode)
{
	struct hp3_view v;

	hp3_parse(frame, (uint32_t)len, &v);
	frame[v.udp_off + 8] = opcode; /* the first byte of the BTH */
	hp3_icrc_store(frame, &v);
}

int hp3_trace_start(struct hp3_tracer *t, const struct hp3_addressing *a,
	const struct hp3_trace_ask *ask, const struct hp3_times *at, void *buf)
{
	struct hp3_peer_probe p = {.dest_qpn = ask->qpn, .psn = ask->psn, .time = at->clock};
	struct hp3_addressing to = *a;
	struct hp3_trace_slot *s;
	size_t address = a->ipv6 ? 16 : 4;
	int i, len;

	if (ask->ttl == 0 || ask->ttl > HP3_TRACE_TTL)
		return -EINVAL;
	i = find_slot(t, a);
	if (i < 0)
		return i;
	if (!hp3_limit_ready(&t->params.limit, t->spent_until, at->now))
		return -EAGAIN;
	p.id = draw_id(t, a, (uint32_t)i);
	p.cookie = hp3_probe_cookie(&t->params.secret, a, p.id);
	to.ttl = ask->ttl;
	to.ipv4_id = (uint16_t)p.id;
	len = hp3_peer_build(buf, HP3_TRACE_FRAME_MAX, &to, &p, &t->params.key);
	if (len < 0)
		return len;
	if (ask->opcode != 0)
		set_opcode(buf, len, ask->opcode);

	hp3_limit_spend(&t->params.limit, &t->spent_until, at->now);
	s = &t->slot[i];
	*s = (struct hp3_trace_slot){.ask = *ask,
		.sent = at->now,
		.end = at->now + t->params.timeout_ns,
		.id = p.id,
		.flow_label = hp3_sport_to_flow_label(a->sport),
		.port = a->sport,
		.state = SLOT_OPEN,
		.ipv6 = a->ipv6};
	memcpy(s->src, a->src_ip, address);
	memcpy(s->dst, a->dst_ip, address);
	t->used++;
	t->stats->traces++;
	return len;
}

static void result_of(const struct hp3_trace_slot *s, enum hp3_trace_outcome outcome, uint64_t now,
	struct hp3_trace_result *res)
{
	*res = (struct hp3_trace_result){.ask = s->ask,
		.port = s->port,
		.outcome = (uint8_t)outcome,
		.ipv6 = s->ipv6,
		.rtt_ns = now - s->sent};
}

static void set_free(struct hp3_tracer *t, struct hp3_trace_slot *s)
{
	s->state = SLOT_FREE;
	t->used--;
}

static bool is_quote_of(const struct hp3_trace_slot *s, const struct hp3_expired *x)
{
	if (!same_ends(s, x->ipv6, x->src, x->dst, x->sport) || (x->has_id && x->id != s->id))
		return false;
	return x->ipv6 ? x->flow_label == s->flow_label : x->ipv4_id == (uint16_t)s->id;
}

int hp3_trace_icmp(struct hp3_tracer *t, const struct hp3_parsed *f, uint64_t now,
	struct hp3_trace_result *res)
{
	struct hp3_trace_slot *s = t->slot;
	struct hp3_expired x;
	int err = hp3_expired_read(f, &x);

	if (err < 0) {
		t->stats->traces_bad += err == -EBADMSG;
		return -ENOMSG;
	}
	while (s < t->slot + HP3_TRACES_MAX && !is_quote_of(s, &x))
		s++;
	if (s == t->slot + HP3_TRACES_MAX) {
		t->stats->traces_stray++;
		return -ENOMSG;
	}
	if (s->state == SLOT_LATE) {
		set_free(t, s);
		return -ESTALE;
	}
	bool named = hp3_expired_named(&x);
	result_of(s, named ? HP3_TRACE_HOP : HP3_TRACE_ODD, now, res);
	memcpy(res->hop, x.hop, sizeof(res->hop));
	t->stats->traces_hop += named;
	t->stats->traces_odd += !named;
	set_free(t, s);
	return 0;
}

bool hp3_trace_reached(
	struct hp3_tracer *t, uint32_t id, uint64_t now, struct hp3_trace_result *res)
{
	struct hp3_trace_slot *s = &t->slot[id & SLOT_MASK];

	if (s->state != SLOT_OPEN || s->id != id)
		return false;
	result_of(s, HP3_TRACE_REACHED, now, res);
	t->stats->traces_reached++;
	set_free(t, s);
	return true;
}

bool hp3_trace_expire(struct hp3_tracer *t, uint64_t now, struct hp3_trace_result *res)
{
	for (uint32_t i = 0; t->used && i < HP3_TRACES_MAX; i++) {
		struct hp3_trace_slot *s = &t->slot[i];

		if (s->state == SLOT_FREE || now < s->end)
			continue;
		if (s->state == SLOT_LATE) {
			set_free(t, s);
			continue;
		}
		result_of(s, HP3_TRACE_SILENT, now, res);
		res->rtt_ns = 0;
		s->state = SLOT_LATE;
		s->end += t->params.timeout_ns;
		t->stats->traces_silent++;
		return true;
	}
	return false;
}

const char *hp3_trace_outcome_name(enum hp3_trace_outcome o)
{
	static const char *const names[] = {
		[HP3_TRACE_HOP] = "hop",
		[HP3_TRACE_ODD] = "odd",
		[HP3_TRACE_REACHED] = "reached",
		[HP3_TRACE_SILENT] = "silent",
	};
	return HP3_NAME(names, o);
}
