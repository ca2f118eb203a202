/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Types and functions that replay.c (passes over a capture), ends.c (the two ends, and the packets
 * between them), summary.c (results) and rows.c (table of flows) share.
 */
#include <jansson.h>
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/replay/capture.h"
#include "app/hp3d/replay/flows.h"
#include "app/hp3d/replay/replay.h"

#define HP3D_REPLAY_FOUND 24u /* different names; further ones are counted as "others" */

/* A tunnel, or what was found instead of RoCEv2. */
struct hp3d_replay_found {
	char name[HP3D_REPLAY_NAME_MAX];
	uint64_t packets;
};

/* Results of a replay, as text or JSON. A packet passes two pipes. `class` and `reason` count the
 * packet in both pipes, and the output halves these counts. */
struct hp3d_replay_summary {
	uint64_t packets_in, packets_out, truncated;
	uint64_t copies; /* left out: packets that the capture has twice */
	uint64_t icrc_good_in, icrc_bad_in, icrc_good_out, icrc_bad_out;
	uint64_t icrc_missing; /* RoCE packets whose ICRC is not recorded */
	struct hp3d_replay_found found[HP3D_REPLAY_FOUND + 1];
	unsigned n_found;
	uint64_t class[HP3_CLASS_MAX], reason[HP3_PARSE_REASON_MAX];
	uint64_t changed, held, discarded, consumed, held_peak;
	uint64_t pairings, switched, idle_switched, recovered, epochs;
	unsigned leaked;
};

/* Adds one to *good or *bad if the frame is a RoCE packet. */
void hp3d_replay_count_icrc(const void *frame, uint32_t len, uint64_t *good, uint64_t *bad);
/* Counts a packet of the input: its ICRC, tunnels, and what is not RoCEv2. */
void hp3d_replay_count_frame(struct hp3d_replay_summary *s, const struct hp3d_replay_record *r,
	const struct hp3d_replay_frame *f);
void hp3d_replay_count_event(struct hp3d_replay_summary *s, const struct hp3d_event *event);
void hp3d_replay_count_pipe(struct hp3d_replay_summary *s, struct hp3d_pipe *p);
void hp3d_replay_print(
	const struct hp3d_replay_summary *s, const struct hp3d_replay_flows *flows, bool json);

/* rows.c: the table of flows, as JSON or text. */
json_t *hp3d_replay_rows_json(const struct hp3d_replay_flows *flows);
void hp3d_replay_print_rows(const struct hp3d_replay_flows *flows);

#define HP3D_REPLAY_ENDS 2u
/* Packets that `queue` can hold: far more than a pipe releases at once. */
#define HP3D_REPLAY_QUEUE 65536u

/* A packet on its way from one pipe to the next. */
struct hp3d_replay_hop {
	struct rte_mbuf *m;
	unsigned end;
	enum hp3_dir dir;
};

/* Which local and remote queue pairs belong together: learnt in one pass, announced in the next. */
struct hp3d_replay_pairs {
	struct hp3d_event *list; /* events HP3_EVENT_PAIR; release the list with free() */
	uint32_t n;
};

struct hp3d_replay_end {
	struct hp3d_replay_run *r;
	unsigned index;
	struct hp3d_pipe *pipe;
	struct hp3d_replay_pairs pairs; /* learnt in the first passes */
};

struct hp3d_replay_run {
	const struct hp3_config *cfg;
	const struct hp3d_replay *opt;
	struct hp3d_replay_capture capture;
	struct hp3d_replay_frame frame; /* the packet of the input */
	struct hp3d_replay_flows *flows;
	bool surveyed; /* a pass has filled `flows` */
	struct rte_mempool *pool;
	struct hp3d_replay_end ends[HP3D_REPLAY_ENDS];
	struct hp3d_replay_hop *queue;
	uint32_t head, n;
	uint64_t now;
	uint64_t shift; /* timestamps minus `now` */
	uint32_t leaps; /* number of timestamps at which `shift` was changed */
	struct hp3d_replay_summary s;
	bool moving; /* last pass with --move-to: streams are moved */
	bool write; /* last pass: packets are written and counted */
	bool failed;
};

/* Makes the pipes for a pass. Returns 0, or -1 after a message. */
int hp3d_replay_make_ends(struct hp3d_replay_run *r);
void hp3d_replay_free_ends(struct hp3d_replay_run *r);

/* Adds the pairs of `flows` to the learnt pairs of both ends. Returns 0 or -ENOMEM. */
int hp3d_replay_take_pairs(struct hp3d_replay_run *r);

/* Announces learnt pairs to a pipe. */
void hp3d_replay_announce(const struct hp3d_replay_pairs *l, struct hp3d_pipe *p, uint64_t now);

/* Takes over a packet, and queues it for the pipe of an end. */
void hp3d_replay_queue(
	struct hp3d_replay_run *r, struct rte_mbuf *m, unsigned end, enum hp3_dir dir);
/* Passes queued packets on until the queue is empty. */
void hp3d_replay_forward(struct hp3d_replay_run *r);
/* Advances the time, and runs timers that are due. */
void hp3d_replay_advance(struct hp3d_replay_run *r, uint64_t to);
