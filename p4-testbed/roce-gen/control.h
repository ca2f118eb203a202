/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CONTROL_H
#define ROCE_GEN_CONTROL_H
/*
 * Setting queue pairs up beside the network under test: a stream socket (TCP, or a Unix socket,
 * which reaches from one network namespace into another) over which two ends advertise to each
 * other, as lines of JSON, what their queue pairs need to know. The same for whoever connects and
 * whoever listens:
 *
 *     {"type":"hello","v":1,"address":"10.0.0.1","mtu":1024,"rkey":N,"va":N,"size":N,"marks":true,
 *      "qps":[[QPN,PSN],...]}       address, path MTU, memory for WRITE and READ, order.h's marks
 *     {"type":"ready"}              the queue pairs may be talked to
 *     {"type":"done"}               nothing more will be asked of the other end
 *     {"type":"error","text":"..."}
 *
 * Whoever connects speaks first. The i-th queue pair of one end belongs to the i-th of the other.
 * The connection stays until both are done; one that ends before is a lost peer.
 */
#include "endpoint.h"
#include "options.h"
#include "port.h"

enum gen_peer_state {
	GEN_PEER_ABSENT, /* to be connected to, later */
	GEN_PEER_CONNECTING,
	GEN_PEER_GREETING, /* connected; no hello from the other end yet */
	GEN_PEER_RESOLVING, /* the next hop's MAC */
	GEN_PEER_WAITING, /* our end is ready */
	GEN_PEER_UP, /* both are */
	GEN_PEER_GONE
};

struct gen_peer {
	enum gen_peer_state state;
	int fd;
	bool active, sent_ready, ready, sent_done, done;
	const char *where; /* that we connect to */
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
	bool lost; /* a peer went away, or broke the protocol */
};

/* Tag of the listening socket in epoll's data; peers have a pointer. */
#define GEN_CONTROL_LISTEN UINT64_C(1)

/* 0, or a negative errno with a message on stderr. */
int gen_control_open(struct gen_control *c, const struct gen_options *o, struct gen_endpoint *ep,
	const struct gen_port *port, int epoll, uint64_t now);
void gen_control_close(struct gen_control *c);
/* epoll says that something happened: `tag` is its data. */
void gen_control_event(struct gen_control *c, uint64_t tag, uint64_t now);
/* What is due; returns when to call again. */
uint64_t gen_control_tick(struct gen_control *c, uint64_t now);

/* All peers that are to be there are up. */
bool gen_control_up(const struct gen_control *c);
/* Tells everyone that we are done. */
void gen_control_done(struct gen_control *c);
/* Everyone is, too. */
bool gen_control_all_done(const struct gen_control *c);
/* Who is missing, for a message. */
void gen_control_missing(const struct gen_control *c, char *buf, size_t cap);

#endif
