/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_EVENT_H
#define HP3_ENGINE_EVENT_H
/*
 * The decision record: everything that the engine does to a flow leaves an event with its evidence,
 * and every move is judged later by what it brought (OUTCOME, which refers back).
 *
 * A rerouting in full: SEVERE (why), ROUND (what was asked, what came back), SUSPEND (the closing
 * packet is out), then SWITCH, or RECOVER; after SWITCH an OUTCOME. A dead path: ROUND (three of
 * them), FAILOVER, OUTCOME; where only the way back is dead, ROUND (three of them), REPORT, and at
 * the peer REPLIES. Moves by command begin with SUSPEND.
 */
#include "ppp/discovery.h"
#include "ppp/monitor.h"

enum hp3_event_type {
	HP3_EV_SWITCH, /* moved behind a drain */
	HP3_EV_IDLE_SWITCH, /* moved with nothing in flight */
	HP3_EV_RECOVER, /* fast recovery on the old port */
	HP3_EV_EPOCH, /* queue pair gone or reset during a move */
	HP3_EV_PAIR,
	HP3_EV_UNPAIR,
	HP3_EV_ROUND, /* a round of probes has ended */
	/* congestion control did not cure the path in use; cause LOSS: it is lossy */
	HP3_EV_SEVERE,
	HP3_EV_SUSPEND, /* the closing packet is out; what follows is held */
	HP3_EV_FAILOVER, /* moved off a dead path */
	HP3_EV_RESUME, /* after a failover: sending goes on */
	HP3_EV_OUTCOME, /* what a move brought; refers to it */
	HP3_EV_REPORT, /* nothing is acknowledged, but probes come through: the peer was told */
	HP3_EV_REPLIES, /* replies to the peer leave on another port */
	HP3_EV_WOULD, /* mode observe: what would have been done */
	HP3_EV_MODE, /* hp3d's own, of no flow: enum hp3_policy_mode, from and to */
	HP3_EV_BYPASS, /* of a rail: enum hp3d_bypass_phase, from and to */
	HP3_EV_LINK, /* of a port of a rail: 1 is up, from and to; `reason`: the direction */
	/* of this host and a peer (app/hp3d/pipe/agent_keys.c): */
	HP3_EV_KEYED, /* they have agreed on a key */
	HP3_EV_IDENTITY, /* the peer has another identity than before */
	HP3_EV_CLONED, /* the peer has this host's identity; to 1: this host is to draw a new one */
	HP3_EV_MAX
};

enum hp3_cause {
	HP3_CAUSE_OPERATOR,
	HP3_CAUSE_SETUP,
	HP3_CAUSE_STOP,
	/* which signal made the cycles congested; with several, the first of these */
	HP3_CAUSE_CNP,
	HP3_CAUSE_ECN,
	HP3_CAUSE_RTT,
	HP3_CAUSE_DEAD, /* nothing comes through any more */
	HP3_CAUSE_WAKE, /* a long message begins on an idle queue pair */
	HP3_CAUSE_LOSS, /* the path in use loses packets */
	/* beside the RNIC: work requests take longer to complete than they could */
	HP3_CAUSE_COMPLETION,
	HP3_CAUSE_PORT_CNP, /* ... and the RNIC's port handled CNPs, of whichever queue pair */
	HP3_CAUSE_ADVICE, /* somebody who sees more than this host named the port */
	HP3_CAUSE_SPRAY, /* it took several paths, and its peer puts it in order no more */
	HP3_CAUSE_COUNTS, /* another way has fewer long flows (cc.share_moves) */
	HP3_CAUSE_MAX
};

/* OUTCOME: by delivery rate and marked share, before and after */
enum hp3_payoff {
	HP3_PAYOFF_UNKNOWN, /* too little was sent since, or before */
	HP3_PAYOFF_BETTER, /* faster, or as fast with fewer marks */
	HP3_PAYOFF_SAME,
	HP3_PAYOFF_WORSE,
	HP3_PAYOFF_MAX
};

struct hp3_event {
	uint64_t t_ns;
	uint64_t id; /* of this engine: 1, 2, 3, ... */
	uint64_t ref; /* OUTCOME: id of the move */
	uint8_t type; /* enum hp3_event_type */
	uint8_t cause; /* enum hp3_cause */
	uint8_t reason; /* enum hp3_rfr_input that ended the move */
	uint8_t pairing; /* enum hp3_pairing */
	uint16_t from, to;
	uint32_t flow;
	uint32_t rqpn, lqpn;
	uint32_t pair;
	/* from the request to the closing packet; FAILOVER: since the last progress */
	uint64_t wait_ns;
	uint64_t drain_ns; /* from the closing packet to the end */
	uint32_t close_psn;
	uint32_t held_pkts;
	uint64_t held_bytes;
	uint64_t tag; /* of the command that has come to its end */
	/* SEVERE, ROUND and moves that come of them: the latest cycles, oldest first */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* HP3_CYCLE_* */
	struct hp3_estimates path; /* SEVERE: what is known of it; OUTCOME: of the old one */
	struct hp3_estimates after; /* OUTCOME: of the new one */
	/* ROUND, FAILOVER: what was asked and what came back; OUTCOME: enum hp3_payoff */
	uint8_t outcome; /* enum hp3_round_outcome */
	uint8_t probe_kind; /* enum hp3_probe_kind */
	uint8_t n_probes;
	bool nak; /* FAILOVER: a NAK was handed to the RNIC */
	struct hp3_probe probes[HP3_ROUND_PROBES];
};

/* A ROUND that found no better path; if the path may be dead: no sign that it is. */
static inline bool hp3_event_is_fruitless(const struct hp3_event *ev)
{
	bool others = false;

	if (ev->type != HP3_EV_ROUND)
		return false;
	if (ev->cause != HP3_CAUSE_DEAD)
		return ev->outcome != HP3_ROUND_WINNER;
	for (unsigned i = 1; i < ev->n_probes; i++)
		others |= ev->probes[i].state == HP3_PROBE_ANSWERED;
	return !others || ev->probes[0].state != HP3_PROBE_LOST;
}

const char *hp3_event_name(enum hp3_event_type t);
const char *hp3_cause_name(enum hp3_cause c);
const char *hp3_payoff_name(enum hp3_payoff p);

#endif
