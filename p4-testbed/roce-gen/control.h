/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CONTROL_H
#define ROCE_GEN_CONTROL_H
/*
 * Set-up of queue pairs outside the network under test: a stream socket (TCP, or a Unix socket,
 * which connects network namespaces) over which two ends exchange the parameters of their queue
 * pairs, as lines of JSON. Both ends send the same messages:
 *
 *     {"type":"hello","v":1,"address":"10.0.0.1","mtu":1024,"rkey":N,"va":N,"size":N,"marks":true,
 *      "qps":[[QPN,PSN],...]}       address, path MTU, memory for WRITE and READ, order.h's marks
 *     {"type":"ready"}              the queue pairs accept packets
 *     {"type":"done"}               no more requests follow
 *     {"type":"error","text":"..."}
 *
 * The end that connects sends first. The i-th queue pair of one end belongs to the i-th of the
 * other. The connection stays open until both are done; if it ends before, the peer is lost.
 */
#include "endpoint.h"
#include "options.h"
#include "port.h"

enum gen_peer_state {
	GEN_PEER_ABSENT, /* to connect to, later */
	GEN_PEER_CONNECTING,
	GEN_PEER_GREETING, /* connected; no hello from the other end yet */
	GEN_PEER_RESOLVING, /* the next hop's MAC */
	GEN_PEER_WAITING, /* this end is ready */
	GEN_PEER_UP, /* both ends are */
	GEN_PEER_GONE
};

struct gen_peer {
	enum gen_peer_state state;
	int fd;
	bool active, sent_ready, ready, sent_done, done;
	const char *where; /* to connect to */
	struct gen_address address;
	uint32_t first, n; /* queue pairs by index */
	uint32_t number;
	uint64_t next_try;
	char *in;
	size_t in_len, in_room;
};

struct gen_control {
	const struct gen_options *o;
	struct gen_endpoint *ep;
	const struct gen_port *port;
	struct gen_address own;
	int epoll, listen_fd;
	char path[108]; /* Unix socket to remove */
	struct gen_peer *peers[GEN_PEERS_MAX * 2];
	uint32_t n_peers, accepted;
	uint64_t random;
	bool lost; /* a peer disconnected early, or broke the protocol */
};

/* Tag of the listening socket in epoll's data; peers have a pointer. */
#define GEN_CONTROL_LISTEN UINT64_C(1)

/* 0, or a negative errno with a message on stderr. */
int gen_control_open(struct gen_control *c, const struct gen_options *o, struct gen_endpoint *ep,
	const struct gen_port *port, int epoll, uint64_t now);
void gen_control_close(struct gen_control *c);
/* An event of epoll: `tag` is its data. */
void gen_control_event(struct gen_control *c, uint64_t tag, uint64_t now);
/* Does what is due; returns when to call again. */
uint64_t gen_control_tick(struct gen_control *c, uint64_t now);

/* All expected peers are up. */
bool gen_control_up(const struct gen_control *c);
/* Sends "done" to all peers. */
void gen_control_done(struct gen_control *c);
/* All peers are done. */
bool gen_control_all_done(const struct gen_control *c);
/* Lists missing peers, for a message. */
void gen_control_missing(const struct gen_control *c, char *buf, size_t cap);

#endif
