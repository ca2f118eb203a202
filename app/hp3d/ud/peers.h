/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_PEERS_H
#define HP3D_UD_PEERS_H
/*
 * The queue pairs of other hosts' hp3d: questions and answers (probes/hello.h; peers.c), and the
 * table of peers (peer_table.c).
 *
 * hp3d sends questions from a socket of their own. If a peer does not answer, that socket gets
 * another port, and so perhaps another path, once a second at most. Questions of others arrive at
 * hp3's port. hp3d sends questions and answers from a privileged port if it can have one. Hosts
 * that agree on keys drop those from other ports, so no user of a peer's host can answer in place
 * of its hp3d.
 *
 * The queue pairs of an answer are kept until another answer comes. Messages of key agreement go
 * there only if the answer is fresh, so a peer whose hp3d has stopped gets none: its RNIC may have
 * given the QPN to a user. That user may have the Q_Key, which hp3d sends to every host that asks.
 *
 * The table has twice as many places as there may be address pairs, in sets. SipHash with a random
 * key chooses the set, because anybody may ask, from any address. A peer with which the local RNIC
 * has queue pairs keeps its place, all others make room: invented addresses take no such place,
 * whatever they send. What is sent to a peer without a place is dropped and counted (no_peer).
 */
#include "app/hp3d/pipe/agent.h"

#define HP3D_UD_FRESH_S 9u /* an answer is fresh: so long after its question */

struct hp3d_ud_peer {
	bool used, ipv6;
	uint8_t local[16], remote[16]; /* IPv4: the first four bytes */
	struct hp3_hello answer; /* n is 0: nothing yet */
	uint64_t nonce; /* of the question under way; 0: none is */
	uint64_t asked, due; /* the newest question, the next one */
	uint64_t answered; /* when the latest answered question was sent */
	uint64_t wanted; /* when a frame for it was last to be sent */
	uint64_t met; /* hp3d_ud_peers_meet(); 0: never, or its last queue pair has ended */
	uint32_t tries; /* consecutive questions without an answer */
	uint32_t unanswered; /* frames sent there since one arrived */
};

struct hp3d_ud_peers {
	struct hp3d_agent *agent;
	struct hp3_engine *engine;
	struct hp3_hello ours; /* this host's own answer */
	uint16_t port;
	struct hp3_probe_key secret; /* of the table's hash */
	int asks, answers; /* sockets; -1: none. Answers leave `asks`, too */
	int before; /* the previous `asks`, where answers still arrive; -1: none */
	uint64_t changed;
	int epoll; /* polls all sockets; their data is `event` */
	uint32_t event;
	bool plain; /* hp3d may bind no privileged port, and uses others */
	uint64_t ticked;
	uint32_t n, at; /* places; the next one that a tick looks at */
	struct hp3d_ud_peer *peer;
	uint64_t *look; /* by place: no question is due before */
};

/* Room for peers of so many address pairs, at least 4; `secret` is drawn before. 0, or -ENOMEM. */
int hp3d_ud_peers_make(struct hp3d_ud_peers *p, uint32_t pairs);
/* 0, or -1 with the reason in `why`. `port`: hp3's own. */
int hp3d_ud_peers_open(
	struct hp3d_ud_peers *p, uint32_t pairs, uint16_t port, char *why, size_t cap);
void hp3d_ud_peers_close(struct hp3d_ud_peers *p);
/* Adds a socket to `epoll`. 0, or -1 and errno. */
int hp3d_ud_peers_watch(struct hp3d_ud_peers *p, int fd);

/* NULL: unknown. */
struct hp3d_ud_peer *hp3d_ud_peers_find(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote);
/* The peer, or a new one in the place of the peer that has been unwanted for longest. NULL: its set
 * is full of peers with which the local RNIC has queue pairs. */
struct hp3d_ud_peer *hp3d_ud_peers_add(struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local,
	const uint8_t *remote, uint64_t now);
/* The local RNIC has queue pairs with this peer, or its last one has ended. */
void hp3d_ud_peers_meet(struct hp3d_ud_peer *peer, uint64_t now);
void hp3d_ud_peers_part(struct hp3d_ud_peer *peer);
/* A frame is to be sent to it: hp3d asks the peer if it has not answered yet. */
void hp3d_ud_peers_want(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now);
/* True: a message of key agreement may be sent to it. If not, hp3d asks the peer. */
bool hp3d_ud_peers_confirm(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now);
/* Handles datagrams that arrived at the sockets; returns their number. */
uint32_t hp3d_ud_peers_poll(struct hp3d_ud_peers *p, uint64_t now);
/* Sends questions that are due, a bounded number. Returns when to call it next. */
uint64_t hp3d_ud_peers_tick(struct hp3d_ud_peers *p, uint64_t now);

#endif
