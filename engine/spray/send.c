/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of the local RNIC that are sprayed: which packet leaves by which path, and when they
 * are not. */
#include "engine/spray/spray.h"
#include "base/random.h"

#define IDLE_BEATS 100u /* without a large message, until the agreement ends */
#define REFUSED_NS 1000000000u /* until a peer that did not agree is asked again */
#define SHORT_RUN  256u /* packets: who goes back more often is better off with one path */
#define STRIKES    4u
/* Beats: so long is a peer bound by a word, but for what packets and words are on their way. */
#define BOUND (HP3_SPRAY_BOUND - 1u)
/* Agreements are numbered by the time at which they began, in 66 us, so that a later one is told
 * from one before, over restarts of hp3d, too. */
#define NUMBER_SHIFT 16u

static struct hp3_spray_out *out_of(struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->out[e->spraying->of[flow]];
}

static void forget(struct hp3_engine *e, struct hp3_spray_out *o)
{
	struct hp3_spraying *s = e->spraying;
	uint16_t last = s->outs[--s->nout], own = s->outs[o->at];

	s->outs[o->at] = last;
	s->out[last].at = o->at;
	s->outs[s->nout] = own;
	e->flows[o->flow].watch &= (uint16_t)~HP3_FW_SPRAY;
	s->peer[o->peer].users--;
}

/* From here on nothing leaves by a lane but the one in use. */
static void narrow(struct hp3_turn *t, struct hp3_spray_out *o)
{
	o->behind = hp3_stream_end(&t->e->flows[o->flow].stream);
	o->narrowed = t->now;
	o->beat_at = t->now; /* is the peer still there? */
	hp3_spray_wake(t->e, t->now);
}

static void put_off(struct hp3_turn *t, const struct hp3_spray_out *o)
{
	t->e->pairs.pairs[t->e->flows[o->flow].pair].spray_at = t->now + REFUSED_NS;
}

/* True: the agreement is still there. */
static bool input(struct hp3_turn *t, struct hp3_spray_out *o, enum hp3_spray_input in)
{
	struct hp3_spray_step step = hp3_spray_step((enum hp3_spray_state)o->state, in);
	bool sprayed = o->state == HP3_SPRAY_SPRAYING;

	if (o->state == HP3_SPRAY_ASKING &&
		((in == HP3_SPRAY_IN_NO && o->start == HP3_NO_PSN) || in == HP3_SPRAY_IN_LOST))
		put_off(t, o); /* what set-up asks for may be refused for want of room alone */
	if (o->state == HP3_SPRAY_ASKING && step.next == HP3_SPRAY_SPRAYING) {
		t->e->stats.sprays++;
		o->beat_at = t->now; /* the peer is to know */
		hp3_spray_wake(t->e, t->now);
	}
	o->state = step.next;
	if (sprayed && step.next != HP3_SPRAY_SPRAYING)
		narrow(t, o);
	switch ((enum hp3_spray_action)step.action) {
	case HP3_SPRAY_DO_DRAIN:
		t->e->stats.sprays_broken++;
		hp3_move_drain(t, o->flow);
		break;
	case HP3_SPRAY_DO_END:
		hp3_spray_say_out(t, o, HP3_AGREE_OVER);
		forget(t->e, o);
		return false;
	default:
		break;
	}
	return true;
}

/* Whom to ask? A peer that believes us, and that said no word to the contrary. */
static bool is_fit(const struct hp3_turn *t, const struct hp3_flow *f)
{
	const struct hp3_engine *e = t->e;

	return e->cfg.moves_allowed && !e->cfg.unkeyed && e->cfg.cc.mode != HP3_CC_DCQCN &&
	       (f->flags & HP3_FF_PAIRED) && e->pairs.pairs[f->pair].spray_at <= t->now &&
	       hp3_flow_may_leave(e, f, t->now);
}

static uint32_t next_number(struct hp3_spraying *s, uint64_t now)
{
	uint32_t at = (uint32_t)(now >> NUMBER_SHIFT);

	s->number = (int32_t)(at - s->number) > 0 ? at : s->number + 1;
	return s->number;
}

/* `start`: where nothing is in flight, the PSN that leaves next. */
static void begin(struct hp3_turn *t, uint32_t flow, uint32_t start)
{
	struct hp3_spraying *s = t->e->spraying;
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_spray_out *o;
	uint16_t peer;

	peer = hp3_spray_peer_get(t->e, f, t->now);
	if (peer == HP3_NO_SPRAY)
		return;
	s->of[flow] = s->outs[s->nout];
	o = &s->out[s->of[flow]];
	*o = (struct hp3_spray_out){.flow = flow,
		.peer = peer,
		.at = (uint16_t)s->nout++,
		.number = next_number(s, t->now),
		.start = start,
		.heard = t->now,
		.large_at = t->now,
		.state = HP3_SPRAY_SINGLE};
	f->watch |= HP3_FW_SPRAY;
	input(t, o, HP3_SPRAY_IN_LARGE);
	o->beat_at = t->now;
	hp3_spray_wake(t->e, t->now);
}

/* Half of the room is for queue pairs that are known to have large messages. */
void hp3_spray_setup(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	if (t->e->cfg.spray.setup && t->e->spraying->nout < t->e->cfg.spray.flows / 2 &&
		!(f->watch & HP3_FW_SPRAY) && is_fit(t, f))
		begin(t, flow, f->stream.nxt);
}

/* Is the message under way a large one? Only a WRITE says so at once. */
static void measure(const struct hp3_engine *e, struct hp3_spray_out *o, const struct hp3_view *v)
{
	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) {
		o->large = false;
		return;
	}
	if (v->flags & HP3_VF_FIRST) {
		o->so_far = 0;
		o->large = v->dma_len >= e->cfg.spray.bytes;
	}
	o->so_far += v->payload_len;
	o->large |= o->so_far >= e->cfg.spray.bytes;
}

/* The peer said yes not too long ago, to what was said not too long ago: who stood still hears old
 * answers, and has no tick before the next packet. */
static bool is_trusted(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	uint64_t silent = t->now - hp3_min_u64(o->heard, t->now), beat = t->e->cfg.spray.beat_ns;

#ifdef HP3_BREAK_SPRAY_STALE
	return true;
#endif
	return silent < HP3_SPRAY_TRUST * beat && t->now - o->yes_to < BOUND * beat;
}

/*
 * What left by lanes has arrived. Before it goes on the peer has spoken since; before it ends that
 * is no mere claim (rule 26): nobody puts in order what is still on its way.
 */
static bool is_caught_up(
	const struct hp3_turn *t, const struct hp3_flow *f, const struct hp3_spray_out *o)
{
	return hp3_psn_diff(f->stream.una, o->behind) >= 0 &&
	       (o->state == HP3_SPRAY_ENDING ? (f->watch & HP3_FW_SURE) != 0
					     : o->heard > o->narrowed && is_trusted(t, o));
}

/*
 * One path for now; for good where paths lose much, or differ by more than it is waited for. True:
 * what is sent again takes it.
 */
static bool went_back(struct hp3_turn *t, struct hp3_spray_out *o)
{
#ifdef HP3_BREAK_SPRAY_AGAIN
	return false;
#endif
	if (o->state == HP3_SPRAY_SPRAYING) {
		o->strikes = o->run < SHORT_RUN ? o->strikes + 1 : 0;
		o->run = 0;
	}
	if (o->strikes == STRIKES) {
		t->e->stats.sprays_given_up++;
		o->strikes = 0;
		put_off(t, o);
		input(t, o, HP3_SPRAY_IN_STOP);
	}
	input(t, o, HP3_SPRAY_IN_BACK);
	return true;
}

/*
 * The first packet of an agreement that was made before it. Too early: the question is void, for
 * it may come behind the packet; the receiver learns from another one what its RNIC waits for.
 */
static void starts(struct hp3_turn *t, struct hp3_spray_out *o, const struct hp3_view *v)
{
	bool agreed = o->state == HP3_SPRAY_SPRAYING, expected = v->psn == o->start;

	o->start = HP3_NO_PSN;
#ifdef HP3_BREAK_SPRAY_EARLY
	return;
#endif
	if (!agreed) {
		o->number = next_number(t->e->spraying, t->now);
		o->beat_at = t->now;
		hp3_spray_wake(t->e, t->now);
	} else if (!expected) {
		input(t, o, HP3_SPRAY_IN_STOP);
	}
}

/* Paths do: in mode auto one of them is taken. */
static bool differ(struct hp3_turn *t, struct hp3_spray_out *o)
{
	if (t->e->cfg.spray.mode != HP3_SPRAY_AUTO || o->state != HP3_SPRAY_SPRAYING)
		return false;
	t->e->stats.sprays_differ++;
	put_off(t, o);
	input(t, o, HP3_SPRAY_IN_STOP);
	return true;
}

/* How many PSNs a READ takes the receiver has to know. */
static bool is_told(const struct hp3_spray_out *o, const struct hp3_view *v)
{
	return o->sized || !(v->flags & HP3_VF_READ) || v->dma_len <= 1u << HP3_PMTU_LOG2_MIN;
}

/* A packet of a queue pair about which there is an agreement, or is to be one. */
static void agreed_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_spread_params params;
	struct hp3_spray_peer *peer;
	struct hp3_spray_out *o;

	o = out_of(t->e, flow);
	measure(t->e, o, &pkt->v);
	if (o->large)
		o->large_at = t->now;
	if (o->start != HP3_NO_PSN) {
		starts(t, o, &pkt->v);
		if (!(f->watch & HP3_FW_SPRAY))
			return;
	}
	if (!is_told(o, &pkt->v) && !input(t, o, HP3_SPRAY_IN_STOP))
		return;
	if ((f->flags & HP3_FF_WENT_BACK) && went_back(t, o))
		return;
	if (!is_trusted(t, o))
		input(t, o, HP3_SPRAY_IN_SILENT);
	if ((o->state == HP3_SPRAY_NARROW || o->state == HP3_SPRAY_ENDING) &&
		is_caught_up(t, f, o) && !input(t, o, HP3_SPRAY_IN_CAUGHT_UP))
		return;
#ifdef HP3_BREAK_SPRAY_UNASKED
	if (o->state == HP3_SPRAY_ASKING)
		o->state = HP3_SPRAY_SPRAYING;
#endif
	if (o->state != HP3_SPRAY_SPRAYING || !o->large || vd->kind != HP3_PASS ||
		f->state > HP3_RFR_CLOSING)
		return;
	peer = &t->e->spraying->peer[o->peer];
	params = hp3_spread_params_of(t->e);
	if (!o->chosen && hp3_spread_choose(&peer->spread, &params, t->now) && differ(t, o))
		return;
	o->chosen = true;
	vd->sport =
		(uint16_t)(peer->base | hp3_spread_lane(&peer->spread, &params,
						(uint32_t)(hp3_random(&t->e->rng) >> 32), t->now));
	t->e->stats.sprayed++;
	o->run++;
}

void hp3_spray_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];

	if (f->watch & HP3_FW_SPRAY) {
		agreed_leaves(t, flow, pkt, vd);
	} else if ((pkt->v.flags & HP3_VF_FIRST) && pkt->v.dma_len >= e->cfg.spray.bytes &&
		   !(pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC)) && f->pmtu_log2 != 0 &&
		   e->spraying->nout < e->cfg.spray.flows && is_fit(t, f)) {
		begin(t, flow, HP3_NO_PSN);
		if (f->watch & HP3_FW_SPRAY)
			out_of(t->e, flow)->large = true;
	}
}

enum hp3_spray_state hp3_spray_state_of(const struct hp3_engine *e, uint32_t flow)
{
	if (!(e->flows[flow].watch & HP3_FW_SPRAY))
		return HP3_SPRAY_SINGLE;
	return (enum hp3_spray_state)e->spraying->out[e->spraying->of[flow]].state;
}

uint32_t hp3_spray_lanes_of(const struct hp3_engine *e, uint32_t flow)
{
	if (hp3_spray_state_of(e, flow) != HP3_SPRAY_SPRAYING)
		return 1;
	return e->cfg.spray.lanes -
	       (uint32_t)__builtin_popcountll(hp3_spray_peer_of(e, flow)->spread.resting);
}

bool hp3_spray_hides(const struct hp3_engine *e, uint32_t flow)
{
	return hp3_spray_state_of(e, flow) == HP3_SPRAY_SPRAYING;
}

void hp3_spray_stalled(struct hp3_turn *t, uint32_t flow)
{
	input(t, out_of(t->e, flow), HP3_SPRAY_IN_BACK);
}

void hp3_spray_gone(struct hp3_turn *t, uint32_t flow, bool over)
{
	struct hp3_spray_out *o;

	if (!(t->e->flows[flow].watch & HP3_FW_SPRAY))
		return;
	o = out_of(t->e, flow);
	if (over && t->acts != NULL)
		hp3_spray_say_out(t, o, HP3_AGREE_OVER);
	forget(t->e, o);
}

void hp3_spray_answer(struct hp3_turn *t, uint32_t flow, const struct hp3_agree *a)
{
	struct hp3_spread_params params = hp3_spread_params_of(t->e);
	struct hp3_spread *spread;
	struct hp3_spray_out *o;

	if (!(t->e->flows[flow].watch & HP3_FW_SPRAY))
		return;
	o = out_of(t->e, flow);
	if (o->number != a->number)
		return;
	spread = &t->e->spraying->peer[o->peer].spread;
	if (a->kind == HP3_AGREE_MARKED) {
		hp3_spread_marked(spread, &params, a->slow, t->now);
		return;
	}
	if (a->kind == HP3_AGREE_SLOW) {
		hp3_spread_told(spread, &params, a->slow, t->now);
		if (hp3_spread_differs(spread, &params))
			differ(t, o);
		return;
	}
	if ((int32_t)(a->turn - o->answered) <= 0 || (int32_t)(a->turn - o->turn) > 0)
		return; /* an old one; or to what was never said */
	if (a->kind == HP3_AGREE_YES && o->turn - a->turn >= HP3_SPRAY_SAID)
		return;
	o->answered = a->turn;
	if (a->kind == HP3_AGREE_YES) {
		o->heard = t->now;
		o->sized = a->pmtu_log2 != 0;
		o->yes_to = o->said[a->turn % HP3_SPRAY_SAID];
	}
	input(t, o, a->kind == HP3_AGREE_YES ? HP3_SPRAY_IN_YES : HP3_SPRAY_IN_NO);
}

uint64_t hp3_spray_out_tick(struct hp3_turn *t, struct hp3_spray_out *o)
{
	const struct hp3_flow *f = &t->e->flows[o->flow];
	uint64_t beat = t->e->cfg.spray.beat_ns, silent = t->now - hp3_min_u64(o->heard, t->now);

	if (!t->e->cfg.moves_allowed && !input(t, o, HP3_SPRAY_IN_STOP))
		return UINT64_MAX;
	if (silent >= HP3_SPRAY_BOUND * beat && !input(t, o, HP3_SPRAY_IN_LOST))
		return UINT64_MAX;
	if (silent >= HP3_SPRAY_TRUST * beat)
		input(t, o, HP3_SPRAY_IN_SILENT);
	if (hp3_stream_idle(&f->stream) && (f->watch & HP3_FW_SURE) && f->state == HP3_RFR_STEADY &&
		(t->now - o->large_at >= IDLE_BEATS * beat || o->state == HP3_SPRAY_ENDING) &&
		!input(t, o, HP3_SPRAY_IN_IDLE))
		return UINT64_MAX;
	if (o->beat_at <= t->now) {
		o->said[++o->turn % HP3_SPRAY_SAID] = t->now;
		hp3_spray_say_out(
			t, o, o->state == HP3_SPRAY_ASKING ? HP3_AGREE_ASK : HP3_AGREE_SPRAYING);
		o->beat_at = t->now + beat;
	}
	return o->beat_at;
}
