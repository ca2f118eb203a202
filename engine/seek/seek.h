/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SEEK_H
#define HP3_ENGINE_SEEK_H
/*
 * Where to: rounds of probes, by what set them off (moves/errand.h). Whoever finds a better path
 * hands the flow to moves.
 */
#include "engine/moves/moves.h"
#include "engine/paths/probe_id.h"

/* congested.c: the path in use is congested: is another one better? */
void hp3_seek(struct hp3_turn *t, uint32_t flow);
/* Beside: nothing speaks against the path in use, but nobody chose it, or has asked for it yet. */
void hp3_seek_at_start(struct hp3_turn *t, uint32_t flow);
/* May it leave now? Searches of congested flows wait for their back-off, too. */
bool hp3_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* The path in use is lossy: is there another one? `to`: this one, which was found, or 0. */
void hp3_seek_lossless(struct hp3_turn *t, uint32_t flow, uint16_t to);
/* The next look at a better path is due. */
void hp3_look_due(struct hp3_turn *t, struct hp3_move *m);
void hp3_congested_step(struct hp3_turn *t, struct hp3_move *m);

/* advised.c: the probes that an advised flow asks have come back, or not */
void hp3_advised_step(struct hp3_turn *t, struct hp3_move *m);
/* The engine's own counts name this port. 0, or why it is not asked about. */
int hp3_advised(struct hp3_turn *t, uint32_t flow, uint16_t port);

/* counted.c: a long flow made progress; is there a way with fewer of them? */
void hp3_seek_counted(struct hp3_turn *t, uint32_t flow);

/* loss.c: a request was sent again; `first`: since the newest one that was not. */
void hp3_loss_seen(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, bool first);

/* size.c: paths that swallow long packets */
/* What a probe writes to be as long as the longest packet of the flow, or of its pair; 0: they are
 * short, or not known. */
uint16_t hp3_probe_pad(const struct hp3_engine *e, const struct hp3_flow *f);
/* One was met lately: no probe of the pair is shorter than data. */
bool hp3_pair_swallows(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* Short probes come through on this port, long packets do not. */
void hp3_swallowed(struct hp3_turn *t, uint32_t flow, uint16_t port);
/* A look at a path that answered before has settled. */
void hp3_size_learn(struct hp3_turn *t, const struct hp3_move *m);

/* stuck.c: the RNIC has gone back; true: to where it was before, for too long, and the flow leaves
 * on the port that its RNIC writes from now on. */
bool hp3_stuck_goes_home(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l);

/* looks.c: a round of a search has an outcome: what now? */
enum hp3_look { HP3_LOOK_MOVE, HP3_LOOK_STAY, HP3_LOOK_AGAIN };
enum hp3_look hp3_look_decide(const struct hp3_engine *e, struct hp3_move *m, bool won);
/* The next look is made later; again: it could not be made now. */
void hp3_put_off(struct hp3_turn *t, struct hp3_move *m);
void hp3_put_off_again(struct hp3_turn *t, uint32_t flow, const struct hp3_put_off *off);
bool hp3_is_put_off(const struct hp3_engine *e, const struct hp3_flow *f);

/* drained.c: probes that look like a duplicate, or a gap, behind the drain */
/* The old path is empty: ask where to go (STANDARD, NAK). */
void hp3_seek_drained(struct hp3_turn *t, uint32_t flow);
/*
 * PROBING: a checked reply that may answer the probe in the air; true: it did. An acknowledgement
 * passes, for the RNIC may need it (rule 24); the NAK that answers a NAK probe does not.
 */
bool hp3_seek_reply(
	struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, struct hp3_verdict *vd);
void hp3_drained_step(struct hp3_turn *t, struct hp3_move *m);
/* PROBING: a CNP came. */
void hp3_seek_marked(struct hp3_move *m);

/* errand.c: an errand that asks, or waits to ask again */
void hp3_errand_answer(
	struct hp3_turn *t, struct hp3_move *m, uint32_t id, bool ce, uint32_t took_ns);
void hp3_errand_timeout(struct hp3_turn *t, struct hp3_move *m);

/* round.c: what errands share */
enum hp3_probe_kind hp3_probe_kind_of(struct hp3_turn *t, uint32_t pair); /* if there are probes */
/* Probes are on, and they are those that the peer's hp3d answers. */
bool hp3_peer_is_asked(struct hp3_turn *t, uint32_t pair);
/* What to ask, but for the candidates: the port in use, or as the errand says. */
struct hp3_round_ask hp3_round_ask(
	struct hp3_engine *e, const struct hp3_move *m, enum hp3_probe_kind kind);
/* From now on the errand asks; false: nobody to ask, or no budget. Nothing is sent yet. */
bool hp3_round_begin(struct hp3_turn *t, struct hp3_move *m, const struct hp3_round_ask *ask);
void hp3_send_probes(struct hp3_turn *t, struct hp3_move *m);
/* Probes leave, and are waited for; await: once more, what has left. */
void hp3_round_go(struct hp3_turn *t, struct hp3_move *m);
void hp3_round_await(struct hp3_turn *t, struct hp3_move *m);
/* The round has an outcome, which is known to all then; true: a better path. */
bool hp3_round_won(struct hp3_turn *t, struct hp3_move *m);
void hp3_round_learn(struct hp3_turn *t, const struct hp3_move *m);
struct hp3_event *hp3_round_report(struct hp3_turn *t, const struct hp3_move *m);

/* dead.c: nothing is acknowledged since `since`; is the path dead? */
void hp3_seek_dead(struct hp3_turn *t, uint32_t flow, uint32_t una, uint64_t since);
void hp3_seek_dead_step(struct hp3_turn *t, struct hp3_move *m);

/* Beside the RNIC, where replies go the way of requests: the peer hears none of this queue pair's.
 * 0, -EALREADY: it is leaving, or has just left; -EPERM: it may not. */
int hp3_seek_for_replies(struct hp3_turn *t, uint32_t flow);

/* setup.c: a path before the first data */
void hp3_setup(struct hp3_turn *t, uint32_t flow);
void hp3_setup_step(struct hp3_turn *t, struct hp3_move *m);
/* The first data comes while the round is under way: it leaves at once. */
void hp3_setup_late(struct hp3_turn *t, uint32_t flow);

/* wake.c: a path for a long message of an idle queue pair */
/* Nothing is in flight, and the next packet leaves: shall it wait? Then the state is PROBING. */
void hp3_wake(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
void hp3_wake_step(struct hp3_turn *t, struct hp3_move *m);

/* active.c: flows with something in flight */
void hp3_active_add(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_active_tick(struct hp3_turn *t);

#endif
