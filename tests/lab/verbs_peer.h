/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The verbs half of the peer for tests of roce-gen: reliable connections of a real RNIC stack, with
 * registered memory. Content is roce-gen's (content.h): received messages are checked, and memory
 * for READs is filled. Every function ends the program when verbs fail.
 */
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define PEER_QPS_MAX  64u
#define PEER_MEMORY   (4u << 20) /* bytes that the other end may write and read */
#define PEER_RECEIVES 128u /* receive buffers of a queue pair: enough to avoid RNR NAKs */
#define PEER_DEPTH    64u /* requests outstanding on a queue pair, at most */

struct peer_params {
	const char *device;
	uint32_t mtu, qps, size, depth;
	uint64_t messages; /* that this end sends on each queue pair */
	enum {
		PEER_NONE,
		PEER_WRITE,
		PEER_SEND,
		PEER_READ,
		PEER_MIX
	} op; /* MIX: 3 of 10 are READs, the others WRITEs */
};

struct peer_qp {
	struct ibv_qp *qp;
	uint32_t psn;
	uint32_t posted, completed;
	uint64_t received;
};

struct peer {
	struct peer_params p;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *memory, *receive, *send;
	uint8_t *memory_at, *receive_at, *send_at;
	int gid_index;
	uint32_t remote_rkey;
	uint64_t remote_va;
	struct peer_qp qps[PEER_QPS_MAX];
	uint64_t received, wrong, sent;
};

void peer_open(struct peer *p, const struct peer_params *params);
/* `ip`: the other end's IPv4 address. */
void peer_connect(struct peer *p, uint32_t i, const uint8_t ip[4], uint32_t qpn, uint32_t psn);
/* Fills memory with the content expected by READs. */
void peer_fill_memory(struct peer *p);
/* Posts as many work requests as the queue pairs can take, and polls completions. */
void peer_poll(struct peer *p);
bool peer_sent_all(const struct peer *p);
/* True: the memory has one complete message, that of the last WRITE. */
bool peer_memory_ok(const struct peer *p);
