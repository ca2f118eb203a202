/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * One communicator of a thread: four queue pairs, one completion queue. Both ends send
 * WRITE_WITH_IMM into one of WINDOW slots of the other end. The immediate is the message's number
 * on its queue pair. The receiver checks every word of the message. Then it writes the number of
 * received messages to the sender, by a small inline WRITE, mostly unsignalled. After that, the
 * sender may write the slot again.
 *
 * In another role, one end READs the slots of the other end, which posts no work requests, and
 * checks every word when a READ completes.
 */
#include <pthread.h>
#include <stdbool.h>
#include "tests/lab/collective/verbs.h"

#define QPS    4u
#define WINDOW 2u
#define WORDS  1024u
#define BYTES  (WORDS * 8u)

enum ring_role { RING_WRITES, RING_READS, RING_IS_READ };

struct slots {
	uint64_t message[QPS][WINDOW][WORDS];
	uint64_t credit[QPS]; /* written by the other end: messages that it received */
};

/* Parameters of a communicator that the ends exchange. */
struct wire_ring {
	uint64_t at; /* struct slots */
	uint32_t rkey, unused;
	struct wire_qp qps[QPS];
};

struct ring {
	enum ring_role role;
	struct ibv_cq *cq;
	struct ibv_mr *in_mr, *out_mr;
	struct slots *in;
	uint64_t (*out)[WINDOW][WORDS];
	struct ibv_qp *qps[QPS];
	struct wire_ring local, remote;
	uint64_t sent[QPS], received[QPS]; /* READs: posted, completed */
	uint32_t posted[QPS], done[QPS]; /* work requests */
	uint64_t wrong, disorder, errors;
	uint64_t last_ns[QPS],
		longest_ns; /* last completion; longest time without one on a queue pair */
	bool drained; /* all messages sent were received; atomic */
	pthread_t thread;
};

/* Set by other threads; atomic. */
extern bool ring_stop; /* send nothing new */
extern bool ring_end; /* the other end will not send either */

void ring_open(struct ring *g, struct rnic *r, enum ring_role role);
void ring_connect(struct ring *g, struct rnic *r, const union ibv_gid *gid);
/* A thread: *ring, until ring_end. */
void *ring_run(void *ring);
