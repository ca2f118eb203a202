/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_REPLAY_SUMMARY_H
#define HP3D_REPLAY_SUMMARY_H
/* Results of a replay, as text or JSON. A packet passes two pipes. `class` and `reason` count it in
 * both, and the output halves these counts. */
#include "app/hp3d/pipe/pipe.h"

struct hp3d_replay_summary {
	uint64_t packets_in, packets_out, truncated;
	uint64_t icrc_good_in, icrc_bad_in, icrc_good_out, icrc_bad_out;
	uint64_t class[HP3_CLASS_MAX], reason[HP3_PARSE_REASON_MAX];
	uint64_t flows, paired, changed, held, discarded, consumed, held_peak;
	uint64_t pairings, switched, idle_switched, recovered, epochs;
	uint64_t retransmits, naks, rnrs;
	unsigned leaked;
};

/* Adds one to *good or *bad if the frame is a RoCE packet. */
void hp3d_replay_count_icrc(const void *frame, uint32_t len, uint64_t *good, uint64_t *bad);
void hp3d_replay_count_event(struct hp3d_replay_summary *s, const struct hp3d_event *event);
void hp3d_replay_count_pipe(struct hp3d_replay_summary *s, struct hp3d_pipe *p);
void hp3d_replay_print(const struct hp3d_replay_summary *s, bool json);

#endif
