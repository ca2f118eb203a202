/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Sets up queue pairs without the network under test. Two ends exchange the parameters of their
 * queue pairs over a stream socket, as lines of JSON. The socket is TCP, or a Unix socket, which
 * works between network namespaces. Both ends send the same messages:
 *
 *     {"type":"hello","v":1,"address":"10.0.0.1","mtu":1024,"rkey":N,"va":N,"size":N,"marks":true,
 *      "qps":[[QPN,PSN],...]}       address, path MTU, memory for WRITE and READ, order.h's marks
 *     {"type":"ready"}              the queue pairs accept packets
 *     {"type":"done"}               no more requests follow
 *     {"type":"error","text":"..."}
 *
 * The end that connects sends its hello first. The i-th queue pair of one end is connected to the
 * i-th of the other end. The socket stays open until both ends have sent "done". If it closes
 * before, the peer counts as lost. A server (--listen with --expect 0) goes on without that peer.
 */
#include "endpoint.h"
#include "options.h"
#include "port.h"

enum gen_peer_state {
	GEN_PEER_ABSENT, /* not connected yet, or to be tried again */
	GEN_PEER_CONNECTING,
	GEN_PEER_GREETING, /* connected; the other end has not sent its hello */
	GEN_PEER_RESOLVING, /* waiting for the MAC address of the next hop */
	GEN_PEER_WAITING, /* this end is ready, the other is not */
	GEN_PEER_UP, /* both ends are ready */
	GEN_PEER_GONE
};

struct gen_peer {
	enum gen_peer_state state;
	int fd;
	bool active, sent_ready, ready, sent_done, done;
	const char *where; /* address of the socket to connect to */
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
	bool lost; /* a peer disconnected early, or broke the protocol; never in a server */
};

/* Data of the listening socket in epoll; a peer's socket has a pointer to struct gen_peer. */
#define GEN_CONTROL_LISTEN UINT64_C(1)

/* 0, or a negative errno with a message on stderr. */
int gen_control_open(struct gen_control *c, const struct gen_options *o, struct gen_endpoint *ep,
	const struct gen_port *port, int epoll, uint64_t now);
void gen_control_close(struct gen_control *c);
/* Handles an event of epoll; `tag` is the data of the event. */
void gen_control_event(struct gen_control *c, uint64_t tag, uint64_t now);
/* Does what is due (connects, resolves); returns when to call again. */
uint64_t gen_control_tick(struct gen_control *c, uint64_t now);

/* True: all expected peers are up. */
bool gen_control_up(const struct gen_control *c);
/* Sends "done" to all peers that are up. */
void gen_control_done(struct gen_control *c);
/* True: all peers are done or gone. A server: never. */
bool gen_control_all_done(const struct gen_control *c);
/* Lists missing peers, for a message. */
void gen_control_missing(const struct gen_control *c, char *buf, size_t cap);

/* Calls between control.c (connections) and hello.c (the messages on them). */

/* Adds `n` queue pairs for the peer, and sends this end's hello. */
int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now);
/* Handles a line that has arrived. */
void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now);
/* Resolves the next hop to the peer; then connects the peer's queue pairs. */
void gen_control_resolve(struct gen_control *c, struct gen_peer *p);
/* Sends a message that has only a type. */
void gen_control_send(struct gen_peer *p, const char *type);
/* Closes the connection to a peer that is lost, for the reason `what`. */
void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what);
/* Sets up the queue pairs given by --static. */
int gen_control_fixed(struct gen_control *c, uint64_t now);
