/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_VERBS_H
#define HP3_SIM_LB_HP3_VERBS_H
/*
 * hp3-verbs: hp3d in verbs mode (docs/guide/verbs.md). The engine of a host sees no packet. Every
 * poll_us, it reads what the library in the application shares: new and closed queue pairs, work
 * posted and completed, the latest time from post to completion. ACKs, CNPs and marks of data stay
 * in the RNIC. Probes are datagrams on the same paths; their answers report marks. Not modelled:
 * the port's CNP counter, which hp3d reads ten times a second, and traces of switches.
 *
 * A move changes the port of a live queue pair (method `sport`): new work requests wait until all
 * earlier ones have completed. A new queue pair waits for a path, or for the message that there is
 * no search. A message between hp3d and the application wakes the receiver, which takes wake_us.
 *
 * An application posts a message as work requests of wr_bytes, with wr_depth outstanding; with one
 * work request per message, there would be nothing to hold. Queue pairs whose peer READs are not
 * moved (rule 20).
 */
#include "ppp/least.h"
#include "sim/lb/hp3.h"

#define HP3_SIM_VERBS_DEPTH 64u

struct hp3_verbs_wr {
	uint64_t posted; /* ps */
	uint32_t end; /* PSN after it */
	uint32_t bytes, queued; /* queued: bytes outstanding when it was posted, its own included */
};

/* Per flow. */
struct hp3_verbs_flow {
	struct hp3_sim_flow x; /* first: other files use only this */
	struct hp3_verbs_wr wr[HP3_SIM_VERBS_DEPTH];
	uint32_t oldest, n; /* of the ring `wr` */
	uint32_t edge; /* PSN after the last one posted */
	uint32_t queued; /* bytes of these n */
	bool waits; /* for a path before the first data */
	bool suspended; /* posted work requests wait */
	uint16_t to; /* port to take when nothing is outstanding; 0: not set yet */
	uint16_t home;
	/* for hp3d's next poll */
	uint64_t posted, done;
	uint32_t posted_wrs, done_wrs;
	uint32_t took_ns, took_queued; /* 0: none since the last poll */
	bool works; /* a work request has completed */
	struct hp3_least least;
};

/* Carries out an act of the engine of the flow's host. */
void hp3_verbs_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a);

void hp3_verbs_start(struct sim *s, struct sim_flow *f);
void hp3_verbs_end(struct sim *s, struct sim_flow *f);
void hp3_verbs_posted(struct sim *s, struct sim_flow *f);
void hp3_verbs_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);

#endif
