/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of peers that are sprayed: put in order before the local RNIC sees them. */
#include "engine/spray/spray.h"
#include "engine/flows/keys.h"

#define GIVE_UP  8u /* times the longest wait for a packet, until nothing is held any more */
#define DOUBTS   2u /* pulses: so long is one believed who may not spray at all */
#define TELL_NS  50000u /* between two words about slow lanes */
#define LEAP     32 /* PSNs ahead of all that came: seldom, but of one whose PSN is damaged */
#define BEAT_MIN 100000u
#define BEAT_MAX 1000000000u

static struct hp3_reseq_params params_of(const struct hp3_engine *e)
{
	uint64_t most = e->cfg.spray.wait_ns;

	return (struct hp3_reseq_params){.window = HP3_RESEQ_WINDOW - 1,
		.least_ns = most / 2, /* hosts stand still now and then, and links are paused */
		.most_ns = most,
		.give_up_ns = GIVE_UP * most};
}

static uint64_t due_of(const struct hp3_turn *t, const struct hp3_spray_in *in)
{
	struct hp3_reseq_params params = params_of(t->e);

	if (in->reseq.held == 0)
		return UINT64_MAX;
	if (!in->sure)
		return in->reseq.gap_at + DOUBTS * hp3_spray_pulse(t->e);
	return hp3_min_u64(hp3_reseq_due(&in->reseq, &params), t->now + hp3_spray_pulse(t->e));
}

static bool is_between(const struct hp3_spray_in *in, uint64_t addr, uint16_t vlan, bool ipv6)
{
	return in->addr == addr && in->vlan == vlan && in->ipv6 == ipv6;
}

static struct hp3_spray_in *find(
	struct hp3_engine *e, uint64_t addr, uint16_t vlan, bool ipv6, uint32_t responder)
{
	struct hp3_spraying *s = e->spraying;

	for (uint16_t i = *hp3_spray_head(s, addr, responder); i != HP3_NO_SPRAY;
		i = s->in[i].next) {
		struct hp3_spray_in *in = &s->in[i];

		if (in->responder == responder && is_between(in, addr, vlan, ipv6))
			return in;
	}
	return NULL;
}

/* Held packets that leave together, in this order. */
struct run {
	uint32_t first, last, n;
};

static void add(struct hp3_engine *e, struct hp3_spray_in *in, struct run *r, uint32_t handle)
{
	uint16_t len = e->held[handle].len;

	if (r->n++ == 0)
		r->first = handle;
	else
		e->held[r->last].next = handle;
	r->last = handle;
	in->bytes -= len;
	e->hold_bytes -= len;
	e->hold_packets--;
}

/* Behind all free entries: the caller still has to go from one to the next. */
static void leave(struct hp3_turn *t, const struct run *r, enum hp3_act_kind kind)
{
	struct hp3_act *a;

	if (r->n == 0)
		return;
	a = hp3_act(t, kind, HP3_NO_FLOW);
	a->held = r->first;
	a->count = r->n;
	t->e->held[r->last].next = 0;
	t->e->held[t->e->last_free].next = r->first;
	t->e->last_free = r->last;
}

static void follow(struct hp3_turn *t, struct hp3_spray_in *in)
{
	struct run r = {0};
	uint32_t handle;

	while (hp3_reseq_next(&in->reseq, t->now, &handle))
		add(t->e, in, &r, handle);
	leave(t, &r, HP3_ACT_DELIVER);
}

static void empty(struct hp3_turn *t, struct hp3_spray_in *in, enum hp3_act_kind kind)
{
	struct run r = {0};
	uint32_t handle;

	while (hp3_reseq_flush(&in->reseq, &handle))
		add(t->e, in, &r, handle);
	leave(t, &r, kind);
}

void hp3_spray_in_end(struct hp3_turn *t, struct hp3_spray_in *in, bool drop)
{
	struct hp3_spraying *s = t->e->spraying;
	uint16_t last = s->ins[--t->e->nspray_in], own = s->ins[in->at];
	uint16_t *link = hp3_spray_head(s, in->addr, in->responder);

	empty(t, in, drop ? HP3_ACT_DISCARD : HP3_ACT_DELIVER);
	while (*link != own)
		link = &s->in[*link].next;
	*link = in->next;
	s->ins[in->at] = last;
	s->in[last].at = in->at;
	s->ins[t->e->nspray_in] = own;
}

/* How many PSNs does it take? */
static bool is_sized(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return in->pmtu_log2 != 0 || !(v->flags & HP3_VF_READ) ||
	       v->dma_len <= 1u << HP3_PMTU_LOG2_MIN;
}

static uint32_t span_of(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return is_sized(in, v) ? hp3_request_span(v, in->pmtu_log2) : 0;
}

/*
 * Two packets in a row of a queue pair whose sender uses one path tell what its RNIC waits for: one
 * may be sent again, or come once more, late.
 */
static void learn(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	uint32_t next = hp3_psn_add(pkt->v.psn, hp3_request_span(&pkt->v, in->pmtu_log2));

	if (!is_sized(in, &pkt->v) || !hp3_pkt_icrc_ok(t->e, pkt))
		return;
	if (pkt->v.psn != in->reseq.expected) {
		in->reseq.expected = next;
		return;
	}
	hp3_reseq_init(&in->reseq, next);
	in->ready = in->sure = true;
	t->e->stats.resequenced++;
	hp3_spray_say_in(t, in, HP3_AGREE_YES, 0);
}

static void judge(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_view *v)
{
	struct hp3_spread_params params = hp3_spread_params_of(t->e);
	uint32_t lane = (uint32_t)(v->sport ^ in->port);
	uint64_t slow;

	if (lane >= in->lanes)
		return;
	hp3_lateness_seen(&in->late, lane, hp3_reseq_lateness(&in->reseq, v->psn, t->now));
	if (t->now - in->told_at < TELL_NS || !hp3_lateness_suspects(&in->late, &params, lane))
		return;
	in->told_at = t->now;
	params.lanes = in->lanes;
	slow = hp3_lateness_slow(&in->late, &params);
	if (slow != 0) {
		t->e->stats.lanes_slow++;
		hp3_spray_say_in(t, in, HP3_AGREE_SLOW, slow);
	}
}

/* It is what it says that it is. */
static bool is_sound(struct hp3_engine *e, const struct hp3_pkt *pkt)
{
#ifdef HP3_BREAK_SPRAY_UNCHECKED
	return true;
#endif
	return hp3_pkt_icrc_ok(e, pkt);
}

/* One that came too early: is there room, and is it worth it? */
static bool may_wait(struct hp3_turn *t, const struct hp3_spray_in *in, const struct hp3_pkt *pkt)
{
	struct hp3_engine *e = t->e;

	if (hp3_psn_diff(pkt->v.psn, in->reseq.expected) <= 0)
		return true;
	if (in->bytes + pkt->len > e->cfg.hold_bytes ||
		e->hold_bytes + pkt->len > e->cfg.hold_bytes_total ||
		e->hold_packets >= e->hold_most) {
		e->stats.reseq_full++;
		return false;
	}
	return hp3_reseq_leap(&in->reseq, pkt->v.psn) <= LEAP || is_sound(e, pkt);
}

static void keep(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	struct hp3_engine *e = t->e;
	uint16_t len = (uint16_t)hp3_min_u32(pkt->len, UINT16_MAX);

	vd->kind = HP3_HOLD;
	vd->held = e->free_held;
	e->free_held = e->held[vd->held].next;
	e->held[vd->held] = (struct hp3_held){.psn = pkt->v.psn, .len = len};
	in->bytes += len;
	e->hold_bytes += len;
	e->hold_packets++;
	e->stats.reseq_held++;
}

/* One of the two may be another packet, whose PSN was damaged: not this one, if its ICRC is right.
 */
static void replace(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	struct run r = {0};

	vd->kind = HP3_DROP;
	if (!is_sound(t->e, pkt))
		return;
	add(t->e, in, &r,
		hp3_reseq_swap(&in->reseq, pkt->v.psn, span_of(in, &pkt->v), t->e->free_held));
	keep(t, in, pkt, vd);
	leave(t, &r, HP3_ACT_DISCARD);
}

/* How long others have waited for it; how far ahead of what is expected it came. */
static void count(struct hp3_stats *s, const struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	uint64_t late = hp3_reseq_lateness(r, psn, now);
	int32_t ahead = hp3_psn_diff(psn, r->expected);

	if (r->held != 0 && ahead == 0) {
		s->reseq_gaps++;
		s->reseq_waited += late;
		s->reseq_gaps_10us += late >= 10000;
		s->reseq_gaps_100us += late >= 100000;
		s->reseq_gaps_1ms += late >= 1000000;
		s->reseq_gaps_10ms += late >= 10000000;
	}
	s->reseq_ahead_8 += ahead >= 8 && ahead < (int32_t)HP3_RESEQ_WINDOW;
	s->reseq_ahead_64 += ahead >= 64 && ahead < (int32_t)HP3_RESEQ_WINDOW;
}

/*
 * Nothing but a question says what the RNIC waits for. Is the queue pair sprayed? Then another
 * packet comes by another port, or the sender says so. False: it is not, all has come by one path.
 */
static bool is_sprayed(struct hp3_spray_in *in, const struct hp3_view *v)
{
	int32_t ahead = hp3_psn_diff(v->psn, in->reseq.expected);

#ifdef HP3_BREAK_SPRAY_SURE
	in->sure = true;
#endif
	if (in->sure || ahead < 0)
		return true;
	in->sure = ahead == 0 || (in->reseq.held != 0 && v->sport != in->first);
	in->first = v->sport;
	return in->sure || ahead < (int32_t)HP3_RESEQ_WINDOW;
}

/* The question was void: what is held has come in order. */
static void doubt(struct hp3_turn *t, struct hp3_spray_in *in)
{
	empty(t, in, HP3_ACT_DELIVER);
	in->ready = false;
}

void hp3_spray_arrives(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_reseq_params params = params_of(t->e);
	struct hp3_spray_in *in =
		find(t->e, pkt->addr, v->vlan, v->flags & HP3_VF_IPV6, v->dest_qpn);

	if (in == NULL)
		return;
	if (in->ready && !is_sprayed(in, v))
		doubt(t, in);
	if (!in->ready) {
		learn(t, in, pkt);
		return;
	}
	hp3_spray_look(t);
	judge(t, in, v);
	in->reseq.again = v->sport == in->in_use; /* where an RNIC that goes back sends */
	if (!may_wait(t, in, pkt))
		return;
	count(&t->e->stats, &in->reseq, v->psn, t->now);
	switch (hp3_reseq_arrive(
		&in->reseq, &params, v->psn, span_of(in, v), t->e->free_held, t->now)) {
	case HP3_RESEQ_PASS:
		follow(t, in);
		break;
	case HP3_RESEQ_HOLD:
		keep(t, in, pkt, vd);
		break;
	case HP3_RESEQ_COPY:
		replace(t, in, pkt, vd);
		break;
	case HP3_RESEQ_BEYOND:
		t->e->stats.reseq_beyond++;
		break;
	default:
		break;
	}
	in->unsized |= !is_sized(in, v);
	if (in->unsized && in->reseq.held == 0) /* its sender sprays no more */
		in->ready = in->unsized = false;
	hp3_spray_wake(t->e, due_of(t, in));
}

/*
 * A NAK, or RNR NAK: the RNIC says itself what it waits for. That may be behind what it was given:
 * a packet may get lost between here and there, or find no receive buffer.
 */
void hp3_spray_refuses(struct hp3_turn *t, const struct hp3_pkt *pkt)
{
	const struct hp3_view *v = &pkt->v;
	const struct hp3_ends ends = hp3_pkt_ends(pkt, HP3_DIR_TX);
	struct hp3_spraying *s = t->e->spraying;
	uint64_t addr;

	if (!(v->flags & HP3_VF_AETH) || HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK)
		return;
	addr = hp3_key_addr(t->e, &ends);
	for (uint32_t i = 0; i < t->e->nspray_in; i++) {
		struct hp3_spray_in *in = &s->in[s->ins[i]];

		if (in->requester != v->dest_qpn || !in->ready ||
			!is_between(in, addr, v->vlan, v->flags & HP3_VF_IPV6))
			continue;
		if (!hp3_reseq_refused(&in->reseq, v->psn, t->now)) {
			empty(t, in, HP3_ACT_DELIVER);
			hp3_reseq_refused(&in->reseq, v->psn, t->now);
		}
		follow(t, in);
		hp3_spray_wake(t->e, due_of(t, in));
		return;
	}
}

static struct hp3_spray_in *add_in(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	struct hp3_spraying *s = t->e->spraying;
	uint32_t n = t->e->nspray_in;
	struct hp3_spray_in *in = &s->in[s->ins[n]];
	size_t len = ends->ipv6 ? 16 : 4;

	*in = (struct hp3_spray_in){.ipv6 = ends->ipv6,
		.vlan = ends->vlan,
		.addr = hp3_key_addr(t->e, ends),
		.responder = a->responder,
		.at = (uint16_t)n};
	memcpy(in->local, ends->local, len);
	memcpy(in->remote, ends->remote, len);
	in->next = *hp3_spray_head(s, in->addr, in->responder);
	*hp3_spray_head(s, in->addr, in->responder) = s->ins[n];
	t->e->nspray_in++;
	return in;
}

static void agree(struct hp3_turn *t, const struct hp3_ends *ends, struct hp3_spray_in *in,
	const struct hp3_agree *a)
{
#ifdef HP3_BREAK_SPRAY_TWICE
	in->ready = a->next != HP3_NO_PSN;
#else
	in->ready = a->next != HP3_NO_PSN && hp3_spray_is_first(t->e, ends, a->number, t->now);
#endif
	if (in->ready) {
		hp3_reseq_init(&in->reseq, a->next);
		t->e->stats.resequenced++;
	}
	in->sure = in->unsized = false;
	in->number = a->number;
	in->requester = a->requester;
	in->turn = a->turn - 1;
	in->lanes = a->lanes;
	in->late = (struct hp3_lateness){0};
	in->beat_ns = hp3_min_u64(hp3_max_u64(a->beat_us * 1000ull, BEAT_MIN), BEAT_MAX);
}

static bool may_agree(const struct hp3_engine *e)
{
	return e->cfg.moves_allowed && !e->cfg.unkeyed && e->nspray_in < e->cfg.spray.flows;
}

void hp3_spray_asked(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	struct hp3_spray_in *in =
		find(t->e, hp3_key_addr(t->e, ends), ends->vlan, ends->ipv6, a->responder);

	if (in != NULL && in->number == a->number && a->kind == HP3_AGREE_OVER) {
		hp3_spray_in_end(t, in, false);
		return;
	}
	if (a->kind == HP3_AGREE_OVER || (in != NULL && (int32_t)(a->number - in->number) < 0))
		return; /* an old word changes nothing */
	if (a->kind == HP3_AGREE_ASK && in == NULL && may_agree(t->e)) {
		in = add_in(t, ends, a);
		agree(t, ends, in, a);
	} else if (a->kind == HP3_AGREE_ASK && in != NULL && in->number != a->number) {
		empty(t, in, HP3_ACT_DELIVER);
		agree(t, ends, in, a);
	}
	if (in == NULL || in->number != a->number) {
		hp3_spray_refuse(t, ends, a);
		return;
	}
	if ((int32_t)(a->turn - in->turn) <= 0)
		return;
	in->turn = a->turn;
	in->sure |= a->kind == HP3_AGREE_SPRAYING;
	in->heard = t->now;
	in->spared = 0;
	in->port = a->port;
	in->in_use = a->in_use;
	in->pmtu_log2 = a->pmtu_log2;
	hp3_spray_wake(t->e, t->now);
	if (in->ready)
		hp3_spray_say_in(t, in, HP3_AGREE_YES, 0);
}

static void hand_over_late(struct hp3_turn *t, struct hp3_spray_in *in)
{
	struct hp3_reseq_params params = params_of(t->e);
	struct run r = {0};
	uint32_t handle;
	bool copy;

	while (hp3_reseq_late(&in->reseq, &params, t->now, &handle, &copy)) {
		if (copy) {
			hp3_act(t, HP3_ACT_SHOW, HP3_NO_FLOW)->held = handle;
			t->e->stats.reseq_late++;
		} else {
			add(t->e, in, &r, handle);
		}
	}
	t->e->stats.reseq_given_up += r.n != 0;
	leave(t, &r, HP3_ACT_DELIVER);
}

uint64_t hp3_spray_in_tick(struct hp3_turn *t, struct hp3_spray_in *in)
{
	uint64_t until = in->heard + HP3_SPRAY_BOUND * in->beat_ns;

	if (until <= t->now || !t->e->cfg.moves_allowed) {
		hp3_spray_say_in(t, in, HP3_AGREE_NO, 0);
		hp3_spray_in_end(t, in, false);
		return UINT64_MAX;
	}
	until = hp3_min_u64(until, t->now + in->beat_ns); /* was hp3d asleep (hp3_spray_look())? */
	if (!in->ready)
		return until;
	if (in->sure)
		hand_over_late(t, in);
	else if (in->reseq.held != 0 && due_of(t, in) <= t->now)
		doubt(t, in);
	return hp3_min_u64(until, due_of(t, in));
}
