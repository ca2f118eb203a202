/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Sets up queue pairs without the network under test. Two roce-gen exchange the parameters of their
 * queue pairs over a stream socket, as lines of JSON. The socket is a TCP socket, or a Unix socket,
 * which works between network namespaces. Both ends send these messages:
 *
 *     {"type":"hello","v":1,"address":"10.0.0.1","mtu":1024,"rkey":N,"va":N,"size":N,"marks":true,
 *      "qps":[[QPN,PSN],...]}       address, path MTU, memory for WRITE and READ, order.h's marks
 *     {"type":"ready"}              the queue pairs accept packets
 *     {"type":"done"}               no more requests follow
 *     {"type":"error","text":"..."}
 *
 * The end that connects sends its hello first. The i-th queue pair of one end is connected to the
 * i-th queue pair of the other end. The socket stays open until both ends have sent "done". If the
 * socket closes before, the peer counts as lost. A server (--listen with --expect 0) continues
 * without a lost peer.
 */
#include "endpoint.h"
#include "options.h"
#include "port.h"

enum gen_peer_state {
	GEN_PEER_ABSENT, /* not connected yet, or next try is due later */
	GEN_PEER_CONNECTING,
	GEN_PEER_GREETING, /* connected; the peer has not sent its hello */
	GEN_PEER_RESOLVING, /* waiting for the MAC address of the next hop */
	GEN_PEER_WAITING, /* this end is ready, the peer is not */
	GEN_PEER_UP, /* both ends are ready */
	GEN_PEER_GONE
};

struct gen_peer {
	enum gen_peer_state state;
	int fd;
	bool active, sent_ready, ready, sent_done, done;
	const char *where; /* address of the socket to connect to */
	struct gen_address address;
	uint32_t first, n; /* first index, and number, of its queue pairs */
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
	char path[108]; /* Unix socket to remove at the end */
	struct gen_peer *peers[GEN_PEERS_MAX * 2];
	uint32_t n_peers, accepted;
	uint64_t random;
	bool lost; /* a peer disconnected early, or violated the protocol; never set in a server */
};

/* Data of the listening socket in epoll; a peer's socket has a pointer to struct gen_peer. */
#define GEN_CONTROL_LISTEN UINT64_C(1)

/* Returns 0, or a negative errno with a message on stderr. */
int gen_control_open(struct gen_control *c, const struct gen_options *o, struct gen_endpoint *ep,
	const struct gen_port *port, int epoll, uint64_t now);
void gen_control_close(struct gen_control *c);
/* Handles an event of epoll. `tag` is the data of the event. */
void gen_control_event(struct gen_control *c, uint64_t tag, uint64_t now);
/* Connects to peers and resolves addresses when this is due. Returns when to call again. */
uint64_t gen_control_tick(struct gen_control *c, uint64_t now);

/* True: all expected peers are up. */
bool gen_control_up(const struct gen_control *c);
/* Sends "done" to all peers that are up. */
void gen_control_done(struct gen_control *c);
/* True: all peers are done or gone. A server: never. */
bool gen_control_all_done(const struct gen_control *c);
/* Writes a list of missing peers to buf, for a message. */
void gen_control_missing(const struct gen_control *c, char *buf, size_t cap);

/* Functions that control.c (connections) and hello.c (messages on connections) share. */

/* Adds `n` queue pairs for the peer, and sends this end's hello. */
int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now);
/* Handles a line that has arrived from the peer. */
void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now);
/* Resolves the next hop to the peer. When this is done, connects the peer's queue pairs. */
void gen_control_resolve(struct gen_control *c, struct gen_peer *p);
/* Sends a message that has only a type. */
void gen_control_send(struct gen_peer *p, const char *type);
/* Closes the connection to a peer that is lost. `what`: the reason. */
void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what);
/* Sets up the queue pairs given by --static. */
int gen_control_fixed(struct gen_control *c, uint64_t now);
