/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The decision record: for each action on a flow, the engine emits an event with the evidence for
 * that action. Later, the engine judges each move: the `ref` of event OUTCOME is the id of the
 * move's event.
 *
 * Sequences of events:
 * - A complete move: SEVERE (evidence), ROUND (probes and answers), SUSPEND (the closing packet has
 *   left), then SWITCH or RECOVER. An OUTCOME follows a SWITCH.
 * - A move by command: the same without SEVERE and ROUND.
 * - A dead path: three ROUNDs, FAILOVER; later RESUME and OUTCOME.
 * - A dead reverse path: three ROUNDs, REPORT; the peer's hp3d emits REPLIES.
 */
#include "ppp/discovery.h"
#include "ppp/monitor.h"

enum hp3_event_type {
	HP3_EVENT_SWITCH, /* moved after a drain */
	HP3_EVENT_IDLE_SWITCH, /* moved with nothing in flight */
	HP3_EVENT_RECOVER, /* the move ended on the old port (fast recovery) */
	HP3_EVENT_EPOCH, /* the queue pair ended or was reset during a move */
	HP3_EVENT_PAIR,
	HP3_EVENT_UNPAIR,
	HP3_EVENT_ROUND, /* a round of probes has ended */
	/* severe congestion of the path in use; with cause LOSS: the path in use is lossy */
	HP3_EVENT_SEVERE,
	HP3_EVENT_SUSPEND, /* the closing packet has left; later packets are held */
	HP3_EVENT_FAILOVER, /* the flow left a dead path */
	/* after a FAILOVER: the RNIC has begun to retransmit, and sending continues */
	HP3_EVENT_RESUME,
	HP3_EVENT_OUTCOME, /* result of a move */
	/* the peer answers probes, but no acknowledgement of the flow arrives: report sent to the
	 * peer */
	HP3_EVENT_REPORT,
	HP3_EVENT_REPLIES, /* replies to the peer leave on another port */
	HP3_EVENT_WOULD, /* mode observe: what mode on would have done */
	HP3_EVENT_MODE, /* from hp3d, without a flow: enum hp3_policy_mode in from and to */
	HP3_EVENT_BYPASS, /* about a rail: enum hp3d_bypass_phase in from and to */
	/* about a port of a rail: link state in from and to, 1 is up; `reason`: the direction */
	HP3_EVENT_LINK,
	/* about this host and a peer (app/hp3d/pipe/agent_keys.c): */
	HP3_EVENT_KEYED, /* they have agreed on a key */
	HP3_EVENT_IDENTITY, /* the peer's identity has changed */
	/* the peer has this host's identity; to = 1: this host has to create a new one */
	HP3_EVENT_CLONED,
	HP3_EVENT_MAX
};

enum hp3_cause {
	HP3_CAUSE_OPERATOR,
	HP3_CAUSE_SETUP,
	HP3_CAUSE_STOP,
	/* The signal that made monitoring cycles congested. If several signals did, the first one
	 * of CNP, ECN, RTT. */
	HP3_CAUSE_CNP,
	HP3_CAUSE_ECN,
	HP3_CAUSE_RTT,
	HP3_CAUSE_DEAD, /* no progress, and probes show a dead path */
	HP3_CAUSE_MESSAGE_START, /* a long message begins on an idle queue pair */
	HP3_CAUSE_LOSS, /* the path in use is lossy */
	/* verbs mode: work requests take longer to complete than the shortest time seen */
	HP3_CAUSE_COMPLETION,
	HP3_CAUSE_PORT_CNP, /* ... and the RNIC's port counted CNPs, of any queue pair */
	HP3_CAUSE_ADVICE, /* hp3-fleet named the port */
	HP3_CAUSE_SPRAY, /* the flow was sprayed, and its peer has stopped resequencing it */
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
	/* SEVERE, ROUND, and moves that follow from these: the latest monitoring cycles, oldest
	 * first */
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
 * True for a ROUND that found no better path. A ROUND of a dead-path search is fruitless if it gave
 * no sign that the path is dead: a lost probe of the port in use, and an answer on another port.
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
