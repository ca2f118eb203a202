/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Path searches: rounds of probes, one file per trigger (search/search_state.h). A search that
 * finds a better path starts a move. Re-probe: another round that confirms a result.
 */
#include "engine/moves/moves.h"
#include "engine/paths/probe_id.h"

/* congested.c: the path in use is congested; searches for a better one */
void hp3_search_better_path(struct hp3_turn *t, uint32_t flow);
/* Verbs mode: the path in use was neither chosen nor probed yet; searches for a better one. */
void hp3_search_first_path(struct hp3_turn *t, uint32_t flow);
/*
 * May the flow start a move now? The caller also checks the flow's back-off if the path is
 * congested.
 */
bool hp3_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/*
 * The path in use is lossy: searches for another one. `to`: a port that an earlier search found;
 * the flow moves to this port without a search. 0: none.
 */
void hp3_search_lossless_path(struct hp3_turn *t, uint32_t flow, uint16_t to);
/* Begins the due re-probe of a better path, or puts the re-probe off again. */
void hp3_reprobe_due(struct hp3_turn *t, struct hp3_move *m);
void hp3_congested_step(struct hp3_turn *t, struct hp3_move *m);

/* advised.c: the probes of an advised flow were answered or lost */
void hp3_advised_step(struct hp3_turn *t, struct hp3_move *m);

/*
 * loss.c: the RNIC sent a request again. `first`: the first one since the newest first
 * transmission.
 */
void hp3_loss_seen(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, bool first);

/* size.c: paths that drop long packets silently */
/*
 * Payload bytes that make a probe as long as the longest packet of the flow, or of its address
 * pair. 0: packets are short, or their length is unknown.
 */
uint16_t hp3_probe_pad(const struct hp3_engine *e, const struct hp3_flow *f);
/*
 * Did the pair recently have a path that drops long packets? Then all probes of the pair are as
 * long as data.
 */
bool hp3_pair_swallows(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* The peer answers short probes on this port, but no long packets. */
void hp3_swallowed(struct hp3_turn *t, uint32_t flow, uint16_t port);
/* Calls hp3_swallowed() for ports whose long probe was lost in this round. */
void hp3_size_learn(struct hp3_turn *t, const struct hp3_move *m);

/*
 * stuck.c: the RNIC has begun to retransmit. True: it has retransmitted from the same PSN for too
 * long, and the flow leaves on its home port from now on.
 */
bool hp3_stuck_goes_home(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l);

/* reprobe.c: a round of a search has ended; decides whether to move, stay, or re-probe */
enum hp3_search_decision { HP3_DECIDE_MOVE, HP3_DECIDE_STAY, HP3_DECIDE_REPROBE };
enum hp3_search_decision hp3_search_decide(
	const struct hp3_engine *e, struct hp3_move *m, bool won);
/* Schedules the next re-probe; _again: after a re-probe that could not be sent. */
void hp3_put_off(struct hp3_turn *t, struct hp3_move *m);
void hp3_put_off_again(struct hp3_turn *t, uint32_t flow, const struct hp3_put_off *off);
bool hp3_is_put_off(const struct hp3_engine *e, const struct hp3_flow *f);

/* drained.c: probes of kind STANDARD, which need a drain first */
/* The old path is drained: probes other paths. */
void hp3_search_after_drain(struct hp3_turn *t, uint32_t flow);
/*
 * State PROBING: a reply with a right ICRC arrived. True: the reply answers the outstanding probe.
 * The engine then forwards the reply, because the RNIC may need it (rule 24).
 */
bool hp3_search_reply(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
void hp3_drained_step(struct hp3_turn *t, struct hp3_move *m);
/* PROBING: a CNP arrived. */
void hp3_search_marked(struct hp3_move *m);

/* dispatch.c: a search with outstanding probes, or between two rounds */
void hp3_search_answer(
	struct hp3_turn *t, struct hp3_move *m, uint32_t id, bool ce, uint32_t took_ns);
void hp3_search_timeout(struct hp3_turn *t, struct hp3_move *m);

/* round.c: shared by all searches */
/* the kind of probes to use, if probes are on */
enum hp3_probe_kind hp3_probe_kind_of(struct hp3_turn *t, uint32_t pair);
/* Are probes on, and are probes to this peer of kind PEER? */
bool hp3_peer_is_asked(struct hp3_turn *t, uint32_t pair);
/*
 * Parameters of a round, without candidates. Answers are compared with the reference: the port in
 * use, or another port if the kind of search requires that.
 */
struct hp3_round_ask hp3_round_ask(
	struct hp3_engine *e, const struct hp3_move *m, enum hp3_probe_kind kind);
/* Prepares a round; hp3_round_go() sends it. False: no port to probe, or no budget. */
bool hp3_round_begin(struct hp3_turn *t, struct hp3_move *m, const struct hp3_round_ask *ask);
void hp3_send_probes(struct hp3_turn *t, struct hp3_move *m);
/*
 * _go: sends the probes and starts their time-out. _await: restarts the time-out for probes that
 * have left already.
 */
void hp3_round_go(struct hp3_turn *t, struct hp3_move *m);
void hp3_round_await(struct hp3_turn *t, struct hp3_move *m);
/* The round has ended: stores the results in the path table. True: it found a better path. */
bool hp3_round_won(struct hp3_turn *t, struct hp3_move *m);
void hp3_round_learn(struct hp3_turn *t, const struct hp3_move *m);
struct hp3_event *hp3_round_report(struct hp3_turn *t, const struct hp3_move *m);

/* dead.c: nothing was acknowledged since `since`. Finds out by probes whether the path is dead. */
void hp3_search_dead_path(struct hp3_turn *t, uint32_t flow, uint32_t una, uint64_t since);
void hp3_dead_step(struct hp3_turn *t, struct hp3_move *m);

/*
 * Verbs mode: the peer receives no replies of this queue pair. Replies leave on the port of
 * requests, so the flow moves. Returns 0; -EALREADY: the flow is moving, or has just moved; -EPERM:
 * the flow may not move.
 */
int hp3_failover_for_replies(struct hp3_turn *t, uint32_t flow);

/* setup.c: a path before the first data */
void hp3_setup(struct hp3_turn *t, uint32_t flow);
void hp3_setup_step(struct hp3_turn *t, struct hp3_move *m);
/* The first data comes during a round: the data leaves at once. */
void hp3_setup_late(struct hp3_turn *t, uint32_t flow);

/* message_start.c: message-start probing, for a long message on an idle queue pair */
/*
 * The flow has nothing in flight, and this packet is about to leave. If the packet has to wait for
 * probes, the flow's state becomes PROBING.
 */
void hp3_message_start(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
void hp3_message_start_step(struct hp3_turn *t, struct hp3_move *m);

/* active.c: flows with packets in flight */
void hp3_active_add(struct hp3_engine *e, uint32_t flow, uint64_t now);
