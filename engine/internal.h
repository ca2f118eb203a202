/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_INTERNAL_H
#define HP3_ENGINE_INTERNAL_H
/*
 * What the files of engine/ ask of each other, file by file, and nobody else sees. What they work
 * on: state.h; how a packet finds its flow: keys.h.
 */
#include "engine/hash.h"
#include "engine/keys.h"
#include "engine/state.h"
#include "roce/icrc.h"

/* flows.c: life of a flow */
uint32_t hp3_flow_add(struct hp3_engine *e, bool ipv6, uint16_t vlan, const void *local,
	const void *remote, uint32_t rqpn, uint64_t now);
void hp3_flow_remove(struct hp3_engine *e, uint32_t flow, uint64_t now);
bool hp3_flow_pair(struct hp3_engine *e, uint32_t flow, uint32_t lqpn, enum hp3_pairing how,
	uint64_t now, struct hp3_acts *acts);
void hp3_flow_unpair(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* New epoch: held packets discarded, unpaired, in-flight unknown (rule 16). */
void hp3_flow_epoch(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* transmit.c: everything but the next packet of a paired, unpaced flow in steady state */
void hp3_tx_slow(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);

/* feedback.c */
void hp3_severe(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* A search or a drain begins: CNPs of the flow wait for what becomes of it (shield.h, rule 30). */
void hp3_cnps_wait(struct hp3_engine *e, struct hp3_move *m, uint64_t until);
/* A round of probes begins: so long as cc.withhold_percent says. */
void hp3_cnps_wait_for_round(struct hp3_engine *e, struct hp3_move *m, uint64_t now);
/* `left`: the path that they speak of; else the RNIC is handed the one that it is owed. */
void hp3_cnps_end(struct hp3_engine *e, struct hp3_move *m, bool left, struct hp3_acts *acts);
void hp3_cnp_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);
void hp3_becn_seen(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_verdict *vd);
void hp3_ce_seen(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts);
void hp3_reply_leaves(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* moves.c: the actions of rfr */
/* A slot for a new errand; what a move before is still to be judged by is judged now. */
struct hp3_move *hp3_move_prepare(struct hp3_engine *e, uint32_t flow, enum hp3_errand_kind kind,
	uint64_t now, struct hp3_acts *acts);
/* Feeds an input to the flow's state machine and carries out what ends a move; returns the action.
 */
enum hp3_rfr_action hp3_move_input(struct hp3_engine *e, uint32_t flow, enum hp3_rfr_input input,
	uint64_t now, struct hp3_acts *acts);
/* A packet with this BTH PSN closes the old path; nothing from `end` on has left. */
void hp3_move_close(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint32_t end, uint64_t now,
	struct hp3_acts *acts);
/* The target is known, or will be asked for (BEHIND_DRAIN): close the old path, or go on at once.
 */
void hp3_move_start(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port);

/* slots.c: slots, their deadlines, the FIFOs */
/* The flow's slot, taken if it has none, with reason `use`; NULL: all taken. */
struct hp3_move *hp3_slot_take(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_drop(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_timer(struct hp3_engine *e, struct hp3_move *m, uint64_t *timer, uint64_t t);
bool hp3_hold_put(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h);
/* The first `count` packets of the FIFO leave, or are dropped. */
void hp3_hold_release(
	struct hp3_engine *e, uint32_t flow, uint32_t count, uint8_t flags, struct hp3_acts *acts);
void hp3_hold_shed(struct hp3_engine *e, uint32_t flow, uint32_t count, struct hp3_acts *acts);
void hp3_hold_discard(struct hp3_engine *e, uint32_t flow, struct hp3_acts *acts); /* all */
void hp3_slots_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/* seek.c: the path in use is congested: is another one better? */
void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* Goes on with a search that was put off; false: not now. */
bool hp3_seek_on(struct hp3_engine *e, uint32_t flow, const struct hp3_put_off *off, uint64_t now,
	struct hp3_acts *acts);
/* A round of a search has an outcome: what now? */
enum hp3_look { HP3_LOOK_MOVE, HP3_LOOK_STAY, HP3_LOOK_AGAIN };
enum hp3_look hp3_look_decide(const struct hp3_engine *e, struct hp3_move *m, bool won);
void hp3_put_off(struct hp3_engine *e, struct hp3_move *m, uint64_t now);
bool hp3_is_put_off(const struct hp3_engine *e, const struct hp3_flow *f);
void hp3_look_due(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* The next one waits (ppp/discovery.h), least_ns at least. */
void hp3_search_ended(
	struct hp3_engine *e, uint32_t flow, bool slow, uint64_t least_ns, uint64_t now);
void hp3_congested_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* The old path is empty: ask where to go (STANDARD, NAK). */
void hp3_seek_drained(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/*
 * PROBING: a checked reply that may answer the probe in the air; true: it did. An acknowledgement
 * passes, for the RNIC may need it (rule 24); the NAK that answers a NAK probe does not.
 */
bool hp3_seek_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);
void hp3_drained_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* PROBING: a CNP came. */
void hp3_seek_marked(struct hp3_move *m);

/* errand.c: an errand that asks, `m->errand.asking` */
void hp3_errand_answer(struct hp3_engine *e, struct hp3_move *m, uint32_t id, bool ce, uint64_t now,
	struct hp3_acts *acts);
void hp3_errand_timeout(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* round.c: what errands share */
struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair);
enum hp3_probe_kind hp3_probe_kind_of(struct hp3_engine *e, uint32_t pair, uint64_t now);
uint32_t hp3_probe_nonce(struct hp3_engine *e, uint16_t slot); /* answers.c */
/* What to ask, but for the candidates: the port in use, or as the errand says. */
struct hp3_round_ask hp3_round_ask(
	struct hp3_engine *e, const struct hp3_move *m, enum hp3_probe_kind kind);
/* From now on the errand asks; false: nobody to ask, or no budget. Nothing is sent yet. */
bool hp3_round_begin(
	struct hp3_engine *e, struct hp3_move *m, const struct hp3_round_ask *ask, uint64_t now);
void hp3_send_probes(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* Probes leave, and are waited for; await: once more, what has left. */
void hp3_round_go(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
void hp3_round_await(struct hp3_engine *e, struct hp3_move *m, uint64_t now);
/* The round has an outcome, which is known to all then; true: a better path. */
bool hp3_round_won(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
void hp3_round_learn(struct hp3_engine *e, const struct hp3_move *m, uint64_t now);
struct hp3_event *hp3_round_report(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* seek_dead.c: nothing is acknowledged since `since`; is the path dead? */
void hp3_seek_dead(struct hp3_engine *e, uint32_t flow, uint32_t una, uint64_t since, uint64_t now,
	struct hp3_acts *acts);
void hp3_seek_dead_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* guard.c: answers of RNICs to duplicates of ours */
/* One leaves now; the flow has a slot. */
void hp3_guard_begin(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_guard_end(struct hp3_engine *e, struct hp3_move *m);
/* A request of PSNs [v->psn, end) was emitted, or emitted again, and HP3_FW_GUARD is set. */
void hp3_guard_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint32_t end);
/* HP3_FW_GUARD is set: may this reply not reach the RNIC? */
bool hp3_guard_stops(const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_view *v,
	uint64_t now);

/* counts.c: active flows per path, at both ends */
bool hp3_counts_tell(struct hp3_engine *e, uint32_t pair);
/* Of the unmarked answers that are like `best` the one on the path that is least used. */
const struct hp3_probe *hp3_counts_least_used(
	struct hp3_engine *e, const struct hp3_move *m, const struct hp3_probe *best, uint64_t now);
/* A port by counts alone. */
bool hp3_counts_place(struct hp3_engine *e, uint32_t flow, uint16_t *port, uint64_t now);
/* The pair is new, or gone: nothing is counted for it. */
void hp3_pair_forget(struct hp3_engine *e, uint32_t pair);

/* setup.c: a path before the first data */
/* An unmarked answer, and as good as the best. */
bool hp3_setup_is_alike(
	const struct hp3_engine *e, const struct hp3_probe *p, const struct hp3_probe *best);
void hp3_setup(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_setup_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* The first data comes while the round is under way: it leaves at once. */
void hp3_setup_late(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* wake.c: a path for a long message of an idle queue pair */
/* Nothing is in flight, and the next packet leaves: shall it wait? Then the state is PROBING. */
void hp3_wake(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_acts *acts);
void hp3_wake_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* tell.c: what hosts tell each other of their flows */
void hp3_tell_init(struct hp3_engine *e, uint32_t *ring, uint8_t *waits);
void hp3_tell_changed(struct hp3_engine *e, uint32_t pair);
/* The pair is active: is it time to say so again? */
void hp3_tell_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_tell_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/* active.c: flows with something in flight */
void hp3_active_add(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_active_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* What is known of the path goes into the path table. */
void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* replies.c: the responder stream on dead paths */
/* The requester stream leaves `from`: replies that leave there, too, follow. */
void hp3_replies_follow(struct hp3_engine *e, uint32_t flow, uint16_t from, uint16_t to,
	uint64_t now, struct hp3_acts *acts);
void hp3_replies_home(struct hp3_engine *e, uint32_t flow);
void hp3_reply_reroute(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* failover.c: dead paths */
/* A duplicate on `port` that makes the peer's RNIC say again how far it is; hp3_rnic_is_plain(). */
void hp3_urge(
	struct hp3_engine *e, uint32_t flow, uint16_t port, uint64_t now, struct hp3_acts *acts);
/* What una says is what the RNIC knows, and it waits for nothing but acknowledgements. */
bool hp3_rnic_is_plain(const struct hp3_flow *f);
/* The path of a flow is dead: use `port`. */
void hp3_failover(
	struct hp3_engine *e, uint32_t flow, uint16_t port, uint64_t now, struct hp3_acts *acts);
/* RESUMING: a packet of the RNIC; false: it is to be held. */
bool hp3_resume_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint64_t now, struct hp3_acts *acts);
void hp3_resume_rx(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* rate.c: congestion control (cc = dcqcn), and what a move does to the rate */
void hp3_rate_init(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_marked(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_suspend(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_rollback(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_raise(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* A packet that would leave now: may it? Else it is put into the FIFO, vd says so. */
void hp3_rate_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);
/* The pacer's time has come: packets leave the FIFO. */
void hp3_rate_due(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* bit/s; 0: cc is not dcqcn. */
uint64_t hp3_rate_now(const struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_schedule(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* outcome.c: the decision record */
struct hp3_event *hp3_event(struct hp3_engine *e, uint32_t flow, enum hp3_event_type type,
	uint64_t now, struct hp3_acts *acts);
uint8_t hp3_cause_of(const uint8_t *cycles, uint32_t n);
void hp3_outcome_watch(struct hp3_engine *e, uint32_t flow, uint64_t id, uint64_t now);
void hp3_outcome_judge(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* pairing.c */
bool hp3_challenge_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_acts *acts); /* true: set AckReq on this packet */
void hp3_challenge_rx(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts);
/* What `flow` sent until its last packet may be answered, and its record will not say so; `first`
 * of its address pair: what anybody sent. */
void hp3_challenge_quiet(struct hp3_engine *e, uint32_t flow, bool first, uint64_t now);
/* Forgets the challenge under way: what it would prove is no longer asked or no longer sound. */
void hp3_challenge_stop(struct hp3_pair *p);
/* All that the flow sent until its last packet was answered by now, or never will be. */
bool hp3_is_silent(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* Could the flow be answered with this PSN, about now? */
bool hp3_is_near(const struct hp3_flow *f, uint32_t psn);
/* Is any other flow of the address pair near it, and not silent? */
bool hp3_others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
#define HP3_NEAR_FLOWS 256u /* flows of a pair looked at; more count as near */
/* The flow whose natural challenge a reply answers, if nobody else can be meant; HP3_NO_FLOW. */
uint32_t hp3_asked_naturally(
	struct hp3_engine *e, const struct hp3_pair *p, const struct hp3_view *v, uint64_t now);
bool hp3_is_forced_answer(const struct hp3_pair *p, const struct hp3_view *v);

/* pairing_void.c: pairings by challenge that are not true, or not any more */
/* Somebody near the flow claims the local QPN at which it is answered. One at a time starts over.
 */
void hp3_void_near(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* Nobody claims the reply. It may be one that a flow waits for at another local queue pair. */
void hp3_void_elsewhere(struct hp3_engine *e, const struct hp3_pair *p, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts);
/* A reply that proved nothing to the flow which claims its QPN: perhaps the claim is wrong. */
void hp3_challenge_claimed(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts);
/* A flow that nothing but challenges may have paired sends `psn` again; `first`: it has just gone
 * back. */
void hp3_challenge_went_back(struct hp3_engine *e, uint32_t flow, uint32_t psn, bool first,
	uint64_t now, struct hp3_acts *acts);

/* pairing_cm.c */
void hp3_cm_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir, uint64_t now,
	struct hp3_acts *acts);

static inline uint16_t hp3_flow_port(const struct hp3_flow *f)
{
	return f->flags & HP3_FF_MOVED ? f->port : f->home;
}

static inline bool hp3_pkt_icrc_ok(struct hp3_engine *e, const struct hp3_pkt *pkt)
{
	if (pkt->trusted || hp3_icrc_ok(pkt->frame, &pkt->v))
		return true;
	e->stats.bad_icrc++;
	return false;
}

static inline struct hp3_act *hp3_act(struct hp3_acts *acts, enum hp3_act_kind kind, uint32_t flow)
{
	struct hp3_act *a = &acts->act[acts->n++];

	a->kind = (uint8_t)kind;
	a->flags = 0;
	a->flow = flow;
	return a;
}

#endif
