/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_SEND_H
#define HP3_ENGINE_SPRAY_SEND_H
/* Inside of the sending side: requests (send.c) and READ responses (read.c) of the local RNIC's
 * queue pairs, the agreements about them (out.c). */
#include "engine/spray/spray.h"

static inline struct hp3_spray_out *hp3_out_of(struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->out[e->spraying->of[flow].out];
}

static inline struct hp3_spray_out *hp3_out_of_read(struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->out[e->spraying->of[flow].read];
}

/* Keep-alive interval: the peer may have heard of the one that is stated, or not. */
static inline uint64_t hp3_out_beat(const struct hp3_spray_out *o)
{
#ifdef HP3_BREAK_SPRAY_BEAT
	return o->stated_us * 1000ull;
#endif
	return hp3_min_u32(o->beat_us, o->stated_us) * 1000ull;
}

/* Whom to ask? A peer that believes us, and that said no word to the contrary. */
bool hp3_out_may_begin(const struct hp3_turn *t, const struct hp3_flow *f);
/* ... but for what the peer said of requests. */
bool hp3_out_may_agree(const struct hp3_turn *t, const struct hp3_flow *f);
/* Mode auto: lanes can be compared. */
static inline bool hp3_out_may_compare(const struct hp3_engine *e)
{
	return e->cfg.spray.mode != HP3_SPRAY_AUTO || hp3_spray_rounds_may_ask(e);
}
/* Is there a place for one more of the peer, of so many in all? If not it is counted. */
bool hp3_out_has_place(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most);
/* A large message of the flow begins: an agreement, if there is a place. */
void hp3_out_large(struct hp3_turn *t, uint32_t flow);
/* `start`: where nothing is in flight, the PSN that leaves next. */
void hp3_out_begin(struct hp3_turn *t, uint32_t flow, uint32_t start);
/* ... about what is read from it. */
void hp3_out_begin_read(struct hp3_turn *t, uint32_t flow, uint32_t asked_of);
/* The agreement is over; `over`: the peer is told. */
void hp3_out_end(struct hp3_turn *t, struct hp3_spray_out *o, bool over);
/* The peer said yes not too long ago, to what was said not too long ago. */
bool hp3_out_trusted(const struct hp3_turn *t, const struct hp3_spray_out *o);
/* May its packets leave by several lanes now? The agreement may have ended if not. */
bool hp3_out_may_spread(struct hp3_turn *t, struct hp3_spray_out *o);
/* The packet leaves by one of the lanes. */
void hp3_out_spread(
	struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn, struct hp3_verdict *vd);
/* A PSN is sent again: the port of its first transmission proves no loss any more. */
static inline void hp3_out_again(struct hp3_spray_out *o, uint32_t psn)
{
	hp3_port_log_forget(&o->log, psn);
}
/* The RNIC goes back to this PSN. If the peer asked about it, its lane is left out. */
void hp3_out_lost(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn);
/* Its peer is not asked for a while. */
void hp3_out_put_off(struct hp3_turn *t, const struct hp3_spray_out *o);
/* The number of an agreement that begins now. */
uint32_t hp3_out_number(struct hp3_spraying *s, uint64_t now);
/* True: the agreement is still there. */
bool hp3_out_input(struct hp3_turn *t, struct hp3_spray_out *o, enum hp3_spray_input in);
/* Paths do: in mode auto one of them is taken. */
bool hp3_out_differ(struct hp3_turn *t, struct hp3_spray_out *o);

#endif
