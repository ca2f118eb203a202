/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The decision record: for each action on a flow, the engine emits an event with the evidence for
 * that action. Later, the engine judges each move, and emits an event OUTCOME. The `ref` of this
 * event is the id of the move's event.
 *
 * Sequences of events:
 * - A complete move: SEVERE (evidence), ROUND (probes and answers), SUSPEND (the closing packet has
 *   left), then SWITCH or RECOVER. An OUTCOME follows a SWITCH.
 * - A move by command: as a complete move, without SEVERE and ROUND.
 * - A dead path: three ROUNDs, FAILOVER; later RESUME and OUTCOME.
 * - A dead reverse path: three ROUNDs, REPORT; the peer's hp3d emits REPLIES.
 */
#include "ppp/discovery.h"
#include "ppp/monitor.h"

/* X(symbol, text) */
#define HP3_EVENT_TYPES(X)                                                                         \
	X(SWITCH, "switch") /* moved after a drain */                                              \
	X(IDLE_SWITCH, "idle_switch") /* moved with nothing in flight */                           \
	X(RECOVER, "recover") /* the move ended on the old port (fast recovery) */                 \
	X(EPOCH, "epoch") /* the queue pair ended or was reset during a move */                    \
	X(PAIR, "pair")                                                                            \
	X(UNPAIR, "unpair")                                                                        \
	X(ROUND, "round") /* a round of probes has ended */                                        \
	/* severe congestion of the path in use; with cause LOSS: the path in use is lossy */      \
	X(SEVERE, "severe")                                                                        \
	X(SUSPEND, "suspend") /* the closing packet has left; later packets are held */            \
	X(FAILOVER, "failover") /* the flow left a dead path */                                    \
	/* after a FAILOVER: the RNIC has begun to retransmit, and sending continues */            \
	X(RESUME, "resume")                                                                        \
	X(OUTCOME, "outcome") /* result of a move */                                               \
	/* the peer answers probes, but no acknowledgement of the flow arrives: report sent to the \
	 * peer */                                                                                 \
	X(REPORT, "report")                                                                        \
	X(REPLIES, "replies") /* replies to the peer leave on another port */                      \
	X(WOULD, "would") /* mode observe: what mode on would have done */                         \
	X(MODE, "mode") /* from hp3d, without a flow: enum hp3_policy_mode in from and to */       \
	X(BYPASS, "bypass") /* about a rail: enum hp3d_bypass_phase in from and to */              \
	/* about a port of a rail: link state in from and to, 1 is up; `reason`: the direction */  \
	X(LINK, "link")                                                                            \
	/* about a port of a rail: to = 1: no packet arrives from it (app/hp3d/control/silence.h); \
	 * `reason`: the direction */                                                              \
	X(SILENT, "silent")                                                                        \
	/* about this host and a peer (app/hp3d/pipe/agent_keys.c): */                             \
	X(KEYED, "keyed") /* this host and the peer have agreed on a key */                        \
	X(IDENTITY, "identity") /* the peer's identity has changed */                              \
	/* the peer has this host's identity; to = 1: this host has to create a new identity */    \
	X(CLONED, "cloned")

enum hp3_event_type {
#define X(sym, text) HP3_EVENT_##sym,
	HP3_EVENT_TYPES(X)
#undef X
		HP3_EVENT_MAX
};

/* X(symbol, text) */
#define HP3_CAUSES(X)                                                                              \
	X(OPERATOR, "operator")                                                                    \
	X(SETUP, "setup")                                                                          \
	X(STOP, "stop")                                                                            \
	/* The signal that made monitoring cycles congested. If there were several: the first one  \
	 * in the order CNP, ECN, RTT. */                                                          \
	X(CNP, "cnp")                                                                              \
	X(ECN, "ecn")                                                                              \
	X(RTT, "rtt")                                                                              \
	X(DEAD, "dead") /* no progress, and probes show a dead path */                             \
	X(MESSAGE_START, "message_start") /* a long message begins on an idle queue pair */        \
	X(LOSS, "loss") /* the path in use is lossy */                                             \
	/* verbs mode: work requests take longer to complete than the shortest time seen */        \
	X(COMPLETION, "completion")                                                                \
	/* as COMPLETION; in addition, the RNIC's port counted CNPs, of any queue pair */          \
	X(PORT_CNP, "port_cnp")                                                                    \
	X(ADVICE, "advice") /* hp3-fleet named the port */                                         \
	X(SPRAY, "spray") /* the flow was sprayed, and its peer has stopped resequencing it */     \
	X(PEER, "peer") /* verbs mode: posts are held for a move of the peer's queue pair */

enum hp3_cause {
#define X(sym, text) HP3_CAUSE_##sym,
	HP3_CAUSES(X)
#undef X
		HP3_CAUSE_MAX
};

/* OUTCOME: compares delivery rate, marked share and RTT before and after the move */
enum hp3_payoff {
	HP3_PAYOFF_UNKNOWN, /* too little was sent before or after, or the flow moved again */
	/* higher delivery rate, or an equal rate with fewer marks or a shorter RTT */
	HP3_PAYOFF_BETTER,
	HP3_PAYOFF_SAME,
	HP3_PAYOFF_WORSE,
	HP3_PAYOFF_MAX
};

struct hp3_event {
	uint64_t t_ns;
	uint64_t id; /* 1, 2, 3, ... in this engine */
	uint64_t ref; /* OUTCOME: id of the move */
	uint8_t type; /* enum hp3_event_type */
	uint8_t cause; /* enum hp3_cause */
	uint8_t reason; /* enum hp3_rfr_input that ended the move */
	uint16_t error; /* RECOVER, verbs mode: errno of the failed step; 0: none */
	uint8_t pairing; /* enum hp3_pairing */
	uint16_t from, to;
	uint32_t flow;
	uint32_t rqpn, lqpn;
	uint32_t pair;
	/* from the request of the move to the closing packet; FAILOVER: since the last progress */
	uint64_t wait_ns;
	uint64_t drain_ns; /* from the closing packet to the end of the drain */
	uint32_t close_psn;
	uint32_t held_pkts;
	uint64_t held_bytes;
	uint64_t tag; /* tag of the command that this event completes */
	/* SEVERE, ROUND, and the moves that result: the latest monitoring cycles, oldest first */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* HP3_CYCLE_* */
	struct hp3_estimates path; /* SEVERE: the path in use; OUTCOME: the old path */
	struct hp3_estimates after; /* OUTCOME: the new path */
	/* ROUND, FAILOVER: probes and answers; OUTCOME: `outcome` is enum hp3_payoff */
	uint8_t outcome; /* enum hp3_round_outcome */
	uint8_t probe_kind; /* enum hp3_probe_kind */
	uint8_t n_probes;
	bool nak; /* FAILOVER: the RNIC got a NAK */
	struct hp3_probe probes[HP3_ROUND_PROBES];
};

/*
 * True for a ROUND that found no better path. Exception: false for a ROUND of a dead-path search
 * that shows a sign of a dead path. The sign: the probe of the port in use was lost, and another
 * port answered.
 */
static inline bool hp3_event_is_fruitless(const struct hp3_event *event)
{
	bool others = false;

	if (event->type != HP3_EVENT_ROUND)
		return false;
	if (event->cause != HP3_CAUSE_DEAD)
		return event->outcome != HP3_ROUND_WINNER;
	for (unsigned i = 1; i < event->n_probes; i++)
		others |= event->probes[i].state == HP3_PROBE_ANSWERED;
	return !others || event->probes[0].state != HP3_PROBE_LOST;
}

const char *hp3_event_name(enum hp3_event_type t);
const char *hp3_cause_name(enum hp3_cause c);
const char *hp3_payoff_name(enum hp3_payoff p);
