/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Decides when to post which messages, on the queue pairs with `loads` set. The workload does no
 * I/O and reads no clock. Random choices depend only on the seed. Kinds of load:
 *
 *     closed     `messages` messages on each queue pair, with `depth` of them outstanding
 *     poisson    `messages` messages with exponential gaps, at `bps` of payload in all. The queue
 *                pair of each message is drawn at random
 *     rounds     `messages` rounds. A round has one message on every queue pair at once. The next
 *                round begins `gap_ns` after all messages of the round are complete. With READ,
 *                this is incast, because all peers answer at once
 *     allreduce  `messages` ring all-reduces, one after the other. Each is of `size` bytes among
 *                `ranks` hosts, in 2 (ranks - 1) steps. In a step, a host sends size / ranks bytes
 *                to the next host (WRITE with immediate). The host does this when the data of the
 *                previous step have arrived from the previous host. Queue pairs are channels that
 *                share the bytes
 *
 * If `messages` is 0, the workload posts messages until it is stopped. The completion time of a
 * message begins when the workload queues the message, so this time includes the wait for earlier
 * messages.
 */
#include "config/cdf.h"
#include "endpoint.h"

enum gen_load {
	GEN_LOAD_NONE,
	GEN_LOAD_CLOSED,
	GEN_LOAD_POISSON,
	GEN_LOAD_ROUNDS,
	GEN_LOAD_ALLREDUCE
};

struct gen_workload_params {
	enum gen_load load;
	uint32_t weight[GEN_OPS]; /* shares of WRITE, WRITE with immediate, SEND, READ */
	uint32_t size; /* bytes of a message; not used if `cdf` is set */
	const struct hp3_cdf *cdf;
	uint32_t depth, ranks;
	uint64_t messages, bps, gap_ns, seed;
};

struct gen_workload {
	struct gen_workload_params p;
	struct gen_endpoint *ep;
	struct gen_qp **qps; /* queue pairs that carry load */
	uint32_t n_qps;
	uint64_t *posted, *arrived; /* number of messages by queue pair; allreduce: of steps */
	uint64_t random;
	uint64_t next; /* time of the next arrival or round, ns */
	uint64_t open; /* messages that are posted, and neither complete nor failed */
	uint64_t total, completed, failed, refused, rounds;
	uint64_t round_began;
	bool stopped;
	struct gen_histogram time[GEN_OPS], all, round; /* ns; round: of rounds or all-reduces */
};

/*
 * Call this when all queue pairs are set up. Returns 0; -ENOMEM; -EINVAL: a message is larger than
 * the peer's memory.
 */
int gen_workload_start(struct gen_workload *w, const struct gen_workload_params *p,
	struct gen_endpoint *ep, uint64_t now);
void gen_workload_free(struct gen_workload *w);
void gen_workload_event(struct gen_workload *w, const struct gen_event *e, uint64_t now);
/* Posts the messages that are due. Returns when to call this function again. */
uint64_t gen_workload_tick(struct gen_workload *w, uint64_t now);
/* Stops posting. */
void gen_workload_stop(struct gen_workload *w);
/* True: all messages are posted, and each of them is complete or has failed. */
bool gen_workload_done(const struct gen_workload *w);
