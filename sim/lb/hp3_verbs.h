/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_VERBS_H
#define HP3_SIM_LB_HP3_VERBS_H
/*
 * hp3-verbs: hp3d in verbs mode (docs/guide/verbs.md). The engine of a host sees no packet. It
 * is told what the library in the application shares: queue pairs that come and go, what was posted
 * and is done, the newest time from post to completion; each poll_us. ACKs, CNPs and marks of data
 * stay with the RNIC; of probes, which are datagrams on the same paths, the answers say whether
 * they were marked. CNPs that the port counts, which hp3d reads ten times a second, are not
 * modelled. Switches are not asked who they are. A queue pair is moved as RNICs do that can change
 * the port of a live one (method `sport`): new work requests wait until all before have completed.
 * A queue pair that is new waits for a path or for a report that there is none to ask. A message
 * between hp3d and the application, which wakes the other one, takes wake_us.
 *
 * An application posts a message as work requests of wr_bytes, of which wr_depth are outstanding:
 * else there would be nothing to hold back. Queue pairs whose peer READs are not moved (rule 20).
 */
#include "ppp/least.h"
#include "sim/lb/hp3.h"

#define HP3_SIM_VERBS_DEPTH 64u

struct hp3_verbs_wr {
	uint64_t posted; /* ps */
	uint32_t end; /* PSN behind it */
	uint32_t bytes, queued; /* queued: not done when it was posted, with it */
};

/* Per flow. */
struct hp3_verbs_flow {
	struct hp3_sim_flow x; /* first: what the other files know of a flow */
	struct hp3_verbs_wr wr[HP3_SIM_VERBS_DEPTH];
	uint32_t oldest, n; /* of the ring `wr` */
	uint32_t edge; /* PSN behind what was posted */
	uint32_t queued; /* bytes of these n */
	bool waits; /* for a path before the first data */
	bool suspended; /* what is posted waits */
	uint16_t to; /* port to be taken when nothing is outstanding; 0: nobody asked yet */
	uint16_t home;
	/* for hp3d's next poll */
	uint64_t posted, done;
	uint32_t posted_wrs, done_wrs;
	uint32_t took_ns, took_queued; /* 0: none since the last poll */
	bool works; /* something has completed */
	struct hp3_least least;
};

/* What the engine of the flow's host wants of its queue pair. */
void hp3_verbs_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a);

void hp3_verbs_start(struct sim *s, struct sim_flow *f);
void hp3_verbs_end(struct sim *s, struct sim_flow *f);
void hp3_verbs_posted(struct sim *s, struct sim_flow *f);
void hp3_verbs_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);

#endif
