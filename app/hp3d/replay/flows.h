/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The table of flows of a capture: a row for each stream of requests. A stream has the packets from
 * one address to a queue pair of another address. The requests of a queue pair and its replies to
 * the peer are in one stream, because both have the same destination QPN.
 *
 * Two streams belong to one connection if the replies in one have PSNs of the requests in the
 * other. hp3d pairs live flows by challenges (rule 15); a capture answers no challenge, but all its
 * replies can be compared.
 *
 * A mirror of two ports records packets twice within HP3D_REPLAY_COPY_NS, with no NAK in between.
 * If at least two thirds of the packets of a stream are recorded so, the second ones are copies.
 * Otherwise, they are retransmissions. A packet behind a newer one that was not
 * recorded before is out of order, unless a NAK or the time shows a retransmission.
 */
#include "app/hp3d/replay/frame.h"
#include "engine/unpaired.h"

#define HP3D_REPLAY_COPY_NS 1000000u
#define HP3D_REPLAY_STREAMS                                                                        \
	8192u /* streams in a table; packets of further ones are not counted                       \
	       */

struct hp3d_replay_flows;

struct hp3d_replay_key {
	uint8_t src[16], dst[16]; /* IPv4: first four bytes, the rest 0 */
	uint32_t vlan; /* as in struct hp3_view */
	uint32_t qpn; /* destination */
	bool ipv6;
};

enum hp3d_replay_op {
	HP3D_OP_SEND = 1,
	HP3D_OP_WRITE = 2,
	HP3D_OP_READ = 4,
	HP3D_OP_ATOMIC = 8,
	HP3D_OP_FLUSH = 16,
	HP3D_OP_ATOMIC_WRITE = 32,
	HP3D_OP_OTHER = 64,
};

struct hp3d_replay_row {
	struct hp3d_replay_key key;
	bool paired;
	uint32_t peer_qpn; /* of the sender of the requests; valid if paired */
	enum hp3_unpaired_reason reason; /* PAIRED, or why the stream is not paired */
	uint16_t sport; /* of the newest request */
	uint32_t ops; /* HP3D_OP_* */
	uint64_t requests, replies; /* packets; the replies answer the requests */
	uint64_t bytes; /* payload of the requests */
	uint32_t first_psn, last_psn;
	uint64_t retransmits, reordered, copies;
	uint64_t naks, rnrs; /* packets among `replies` */
};

/* Sums over all streams; `flows`: streams with requests. */
struct hp3d_replay_totals {
	uint64_t flows, paired, retransmits, reordered, naks, rnrs;
};

struct hp3d_replay_flows *hp3d_replay_flows_new(void); /* NULL: not enough memory */
void hp3d_replay_flows_free(struct hp3d_replay_flows *t);

/* Counts a packet. `icrc_wrong`: the ICRC is recorded, and wrong. */
void hp3d_replay_flows_add(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool icrc_wrong);

/* Connection management or a challenge paired the stream `key` with a queue pair of its source. */
void hp3d_replay_flows_pair(
	struct hp3d_replay_flows *t, const struct hp3d_replay_key *key, uint32_t peer_qpn);

/*
 * Pairs streams, and decides which packets are copies. Call it after all packets, and again after
 * later calls of hp3d_replay_flows_pair().
 */
void hp3d_replay_flows_end(struct hp3d_replay_flows *t);

/*
 * For a later pass over the same packets, which calls hp3d_replay_flows_rewind() first. True if the
 * packet is a copy of an earlier one.
 */
void hp3d_replay_flows_rewind(struct hp3d_replay_flows *t);
bool hp3d_replay_flows_is_copy(
	struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f, uint64_t t_ns);

/* The next row at `*at` or behind. Start with 0. Returns false if there is none left. */
bool hp3d_replay_flows_next(
	const struct hp3d_replay_flows *t, uint32_t *at, struct hp3d_replay_row *row);
struct hp3d_replay_totals hp3d_replay_flows_totals(const struct hp3d_replay_flows *t);
