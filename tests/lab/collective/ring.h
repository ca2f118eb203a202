/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_COLLECTIVE_RING_H
#define TEST_COLLECTIVE_RING_H
/*
 * One communicator, as a thread has it: four queue pairs, one completion queue. Both ends send:
 * WRITE_WITH_IMM into one of WINDOW slots of the other end, the immediate is the message's number
 * on its queue pair. Who received it looks at every word, and tells by a small inline WRITE, most
 * of them unsignalled, how many have come: then the slot may be written again.
 *
 * Or one end READs what the other one has filled its slots with, who posts nothing, and looks at
 * every word as it completes.
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
	uint64_t credit[QPS]; /* written by the other end: messages of ours that it has seen */
};

/* What ends advertise to each other of a communicator. */
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
	uint64_t sent[QPS], received[QPS]; /* READs: posted, and what they brought */
	uint32_t posted[QPS], done[QPS]; /* work requests */
	uint64_t wrong, disorder, errors;
	uint64_t last_ns[QPS], longest_ns; /* in which nothing completed on a queue pair */
	bool drained; /* all that was sent has been seen; atomic */
	pthread_t thread;
};

/* Set by others; atomic. */
extern bool ring_stop; /* send nothing new */
extern bool ring_end; /* the other end will not send either */

void ring_open(struct ring *g, struct rnic *r, enum ring_role role);
void ring_connect(struct ring *g, struct rnic *r, const union ibv_gid *gid);
/* A thread: *ring, until ring_end. */
void *ring_run(void *ring);

#endif
