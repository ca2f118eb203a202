/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3-verbs: hp3d in verbs mode (docs/guide/verbs.md). The engine of a host sees no packets. Every
 * poll_us, the engine reads the state that the library in the application shares: work posted and
 * completed, and the latest time from post to completion. The library sends a message when a queue
 * pair is new. The engine gets the end of a queue pair at once. Only the RNIC sees ACKs, CNPs and
 * marks of data. Probes are datagrams on the same paths as data; the answers to probes report
 * marks. The simulator does not model path traces, and the port's CNP counter, which hp3d reads ten
 * times a second.
 *
 * A move changes the source port of a queue pair in use (method `sport`). New work requests wait
 * until all earlier work requests have completed. A new queue pair waits, for about wait_us at
 * most, until hp3d sends a path, or a message that hp3d does not search. A message between hp3d and
 * the application takes wake_us, which is the time to wake the receiver.
 *
 * An application posts a message as work requests of wr_bytes, of which wr_depth are outstanding.
 * (With one work request per message, there would be no work request to hold during a move.) Queue
 * pairs from which the peer READs are not moved (rule 20).
 */
#include "ppp/least.h"
#include "sim/lb/hp3.h"

#define HP3_SIM_VERBS_DEPTH 64u

struct hp3_verbs_wr {
	uint64_t posted; /* ps */
	uint32_t end; /* PSN after its last packet */
	uint32_t bytes, queued; /* queued: bytes outstanding when it was posted */
};

/* Per flow. */
struct hp3_verbs_flow {
	struct hp3_sim_flow x; /* first member: other files use only this */
	struct hp3_verbs_wr wr[HP3_SIM_VERBS_DEPTH];
	uint32_t oldest, n; /* in the ring `wr`: index of the oldest; number */
	uint32_t edge; /* PSN after the last posted packet */
	uint32_t queued; /* bytes of the n work requests in `wr` */
	bool waits; /* the new queue pair waits for its first path */
	bool suspended; /* posted work requests wait */
	uint16_t to; /* the new port, used when no work is outstanding; 0: not set yet */
	uint16_t home;
	/* for hp3d's next poll: bytes, numbers of work requests, and times */
	uint64_t posted, done;
	uint32_t posted_wrs, done_wrs;
	uint32_t took_ns, took_queued; /* 0: no completion since the last poll */
	bool works; /* a work request has completed */
	struct hp3_least least;
};

/* Carries out an act of the engine at the flow's host. */
void hp3_verbs_act(struct sim *s, struct sim_flow *f, const struct hp3_act *a);

void hp3_verbs_start(struct sim *s, struct sim_flow *f);
void hp3_verbs_posted(struct sim *s, struct sim_flow *f);
void hp3_verbs_acked(struct sim *s, struct sim_flow *f, const struct sim_packet *ack);

/*
 * Messages between the application (hp3_verbs_app.c) and hp3d (hp3_verbs.c). A message wakes its
 * receiver. The application sends UP, DRAINED, MOVED and FAILED to hp3d. hp3d sends POLL to itself,
 * and all other messages to the application.
 */
enum hp3_verbs_message {
	HP3_VERBS_MSG_UP,
	HP3_VERBS_MSG_SUSPEND,
	HP3_VERBS_MSG_MOVE,
	HP3_VERBS_MSG_MOVE_NOW,
	HP3_VERBS_MSG_RESUME,
	HP3_VERBS_MSG_STAY,
	HP3_VERBS_MSG_DRAINED,
	HP3_VERBS_MSG_MOVED,
	HP3_VERBS_MSG_FAILED,
	HP3_VERBS_MSG_POLL,
};

static inline struct hp3_verbs_flow *verbs_of(struct sim_flow *f)
{
	return (struct hp3_verbs_flow *)f->lb;
}

void hp3_verbs_send(
	struct sim *s, struct sim_flow *f, enum hp3_verbs_message message, uint16_t port);

/*
 * Stops posting. When all posted work has completed, the flow takes the port `to`; if `to` is 0,
 * the application sends DRAINED.
 */
void hp3_verbs_suspend(struct sim *s, struct sim_flow *f, uint16_t to);
/*
 * at_once: the flow leaves a dead path, on which outstanding work would never complete. hp3d sends
 * MOVE without SUSPEND only to a new queue pair, to set its first path. If the queue pair no longer
 * waits, and has posted work, it drains first.
 */
void hp3_verbs_move(struct sim *s, struct sim_flow *f, uint16_t port, bool at_once);
void hp3_verbs_resume(struct sim *s, struct sim_flow *f);
