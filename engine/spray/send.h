/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Internals of the sending side: requests (send.c) and READ responses (read.c) of the local RNIC's
 * queue pairs, and the sender's agreements (out.c).
 */
#include "base/random.h"
#include "engine/spray/spray.h"

static inline struct hp3_spray_out *hp3_out_of(struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->out[e->spraying->of[flow].out];
}

static inline struct hp3_spray_out *hp3_out_of_read(struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->out[e->spraying->of[flow].read];
}

/*
 * Keep-alive interval (ns). The peer may not have received a changed interval yet, so the shorter
 * one of the old and the new interval counts.
 */
static inline uint64_t hp3_out_keepalive_ns(const struct hp3_spray_out *o)
{
	return hp3_min_u32(o->keepalive_us, o->stated_us) * 1000ull;
}

/*
 * May hp3d ask the peer to resequence requests? True only if the peer shares a key with this host,
 * and has not refused recently.
 */
bool hp3_out_may_begin(const struct hp3_turn *t, const struct hp3_flow *f);
/* As hp3_out_may_begin(), but a refusal about requests does not count. */
bool hp3_out_may_agree(const struct hp3_turn *t, const struct hp3_flow *f);
/* Can hp3d compare paths, as mode auto requires? True in other modes. */
static inline bool hp3_out_may_compare(const struct hp3_engine *e)
{
	return e->cfg.spray.mode != HP3_SPRAY_AUTO || hp3_spray_rounds_may_ask(e);
}
/* May this peer have one more agreement, if at most `most` exist in all? Counts a refusal. */
bool hp3_out_has_place(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most);
/* A large message of the flow begins: asks the peer for an agreement if there is a free place. */
void hp3_out_large(struct hp3_turn *t, uint32_t flow);
/*
 * Begins an agreement about READ responses. `asked_of`: QPN of the local queue pair that the peer
 * reads from.
 */
void hp3_out_begin_read(struct hp3_turn *t, uint32_t flow, uint32_t asked_of);
/* Ends the agreement. `over`: sends OVER to the peer. */
void hp3_out_end(struct hp3_turn *t, struct hp3_spray_out *o, bool over);
/*
 * Is the lease valid? For this, the peer's newest YES, and the message that this YES answers, must
 * be recent. After hp3d was descheduled, it reads old answers before its next tick. The peer's
 * lease is three intervals longer, so that sprayed packets arrive in it.
 */
bool hp3_out_trusted(const struct hp3_turn *t, const struct hp3_spray_out *o);
/*
 * May packets leave by several EVs without a further comparison? In mode auto: only if a round at
 * set-up has compared all EVs.
 */
static inline bool hp3_spray_rounds_are_over(
	const struct hp3_engine *e, const struct hp3_spray_peer *peer)
{
	return e->cfg.spray.mode != HP3_SPRAY_AUTO ||
	       (peer->asked == 0 && peer->spread.known == hp3_spread_all(&e->spraying->spread));
}
/* The RNIC sends a PSN again: deletes the port of its first transmission (rfr/missing.h). */
static inline void hp3_out_again(struct hp3_spray_out *o, uint32_t psn)
{
	hp3_port_log_forget(&o->log, psn);
}
/*
 * The RNIC retransmits from this PSN. If the peer asked about this PSN, packets do not use the EV
 * of its first transmission for a while (rfr/spread.h).
 */
void hp3_out_lost(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn);
/* Awaits no acknowledgement any more (rfr/presume.h). */
void hp3_out_await_no_more(struct hp3_engine *e, struct hp3_spray_out *o);
/* Sends no further ASK to the peer for a while. */
void hp3_out_put_off(struct hp3_turn *t, const struct hp3_spray_out *o);
/* The number of an agreement that begins now. */
uint32_t hp3_out_number(struct hp3_spraying *s, uint64_t now);
/* Applies an input of rfr/spraying.h. False: the agreement has ended. */
bool hp3_out_input(struct hp3_turn *t, struct hp3_spray_out *o, enum hp3_spray_input in);
/*
 * Paths differ: in mode auto, ends the agreement, once sprayed packets have arrived. True: from now
 * on, packets take one path.
 */
bool hp3_out_differ(struct hp3_turn *t, struct hp3_spray_out *o);
/* Does the configuration let hp3d presume that paths are alike (rfr/presume.h)? */
static inline bool hp3_spray_may_presume(const struct hp3_engine *e)
{
	return e->cfg.spray.mode == HP3_SPRAY_AUTO && e->cfg.spray.short_bytes != 0;
}
/* Are paths to the peer presumed alike? */
static inline bool hp3_out_presumes(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	return hp3_spray_may_presume(t->e) && !o->objects &&
	       hp3_presumption_holds(&t->e->spraying->sends, t->now) &&
	       !t->e->spraying->peer[o->peer].differs;
}
/* Shortest message that is sprayed now. */
static inline uint32_t hp3_out_least(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	const struct hp3_spray_params *p = &t->e->cfg.spray;

	return hp3_out_presumes(t, o) ? hp3_min_u32(p->short_bytes, p->bytes) : p->bytes;
}
/* A packet was late or lost, or paths differ. */
static inline void hp3_out_late(struct hp3_turn *t)
{
	bool ended = hp3_presumption_late(&t->e->spraying->sends, t->now);

	t->e->stats.presumption_ended += ended && hp3_spray_may_presume(t->e);
}
/* May packets leave by several EVs now? If not, the agreement may have ended. */
static inline __attribute__((always_inline)) bool hp3_out_may_spread(
	struct hp3_turn *t, struct hp3_spray_out *o)
{
	const struct hp3_spraying *s = t->e->spraying;
	struct hp3_spray_peer *peer = &s->peer[o->peer];
	enum hp3_spray_may may;

	if (hp3_out_presumes(t, o)) {
		if (peer->asked != 0 && o->so_far >= t->e->cfg.spray.bytes &&
			!hp3_spray_rounds_are_over(t->e, peer))
			hp3_spray_rounds_want(t, o); /* a comparison goes on */
		return true;
	}
	if (!o->chosen && hp3_spread_choose(&peer->spread, &s->spread, t->now) &&
		hp3_out_differ(t, o))
		return false;
	if (hp3_spray_rounds_are_over(t->e, peer))
		return true;
	may = hp3_spray_rounds_may(t, o);
	if (may == HP3_SPRAY_DIFFER)
		hp3_out_differ(t, o);
	return may == HP3_SPRAY_MAY;
}
/* Sends the packet by one of the EVs. */
static inline __attribute__((always_inline)) void hp3_out_spread(
	struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn, struct hp3_verdict *vd)
{
	const struct hp3_spraying *s = t->e->spraying;
	struct hp3_spray_peer *peer = &s->peer[o->peer];
	uint32_t ev, random = (uint32_t)(hp3_random(&t->e->rng) >> 32);

	o->chosen = true;
	ev = hp3_spread_ev(&peer->spread, &s->spread, hp3_out_presumes(t, o), random, t->now);
	o->tried = hp3_spread_tried(&peer->spread, o->tried, ev);
	vd->sport = (uint16_t)(peer->base | ev);
	hp3_port_log_put(&o->log, psn, vd->sport);
	t->e->stats.sprayed++;
}
