/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The UD queue pairs of hp3d on other hosts. To learn the queue pairs of a peer, hp3d sends the
 * peer a question. The peer's hp3d names its queue pairs in an answer (probes/hello.h; peers.c).
 * The table of peers is in peer_table.c.
 *
 * hp3d sends questions from a separate socket. If a peer does not answer, hp3d gives this socket
 * another port, once a second at most. The new port may select another path. Questions from other
 * hosts arrive at hp3's port. hp3d sends questions and answers from a privileged port if it may use
 * one. Hosts that agree on keys drop questions and answers from unprivileged ports. So no other
 * user of a peer's host can answer instead of the hp3d there.
 *
 * hp3d sends to the queue pairs of an answer until the next answer arrives. It sends messages of
 * key agreement only if the answer is fresh. The reason is a peer whose hp3d has stopped: the RNIC
 * there may have given the QPN to another user's queue pair. That user may have the Q_Key, because
 * hp3d sends the Q_Key to every host that asks.
 *
 * The table has twice as many places as there may be address pairs, in sets. SipHash with a random
 * key chooses the set, because anybody may send questions from any address. A peer with which the
 * local RNIC has queue pairs keeps its place. A new peer may replace any other peer. So questions
 * from invented addresses cannot displace a peer with queue pairs. hp3d drops and counts (no_peer)
 * frames for a peer without a place.
 */
#include "app/hp3d/pipe/agent.h"

#define HP3D_UD_FRESH_S 9u /* an answer is fresh for this time after its question */

struct hp3d_ud_peer {
	bool used, ipv6;
	uint8_t local[16], remote[16]; /* IPv4: the first four bytes */
	struct hp3_hello answer; /* n is 0: no answer yet */
	/* nonce of the question that has no answer yet; 0: there is no such question */
	uint64_t nonce;
	uint64_t asked, due; /* times of the newest question and of the next one */
	uint64_t answered; /* when the latest answered question was sent */
	uint64_t wanted; /* when hp3d last had a frame to send to this peer */
	uint64_t met; /* time of hp3d_ud_peers_meet(); 0: never, or the last queue pair has ended */
	uint32_t tries; /* consecutive questions without an answer */
	uint32_t unanswered; /* frames sent to this peer since one arrived from it */
};

struct hp3d_ud_peers {
	struct hp3d_agent *agent;
	struct hp3_engine *engine;
	struct hp3_hello ours; /* this host's own answer */
	uint16_t port;
	struct hp3_probe_key secret; /* key of the table's hash */
	/* sockets: `asks` sends questions and answers, `answers` receives questions; -1: none */
	int asks, answers;
	int before; /* the previous `asks`, at which answers still arrive; -1: none */
	uint64_t changed;
	int epoll; /* polls all sockets; their data is `event` */
	uint32_t event;
	bool plain; /* hp3d may not bind privileged ports, and uses unprivileged ports */
	uint64_t ticked;
	uint32_t n, at; /* number of places; next place that a tick looks at */
	struct hp3d_ud_peer *peer;
	uint64_t *look; /* by place: no question to the peer in it is due before this time */
};

/* Makes room for peers of `pairs` address pairs, at least 4. The caller has set `secret`. 0, or
 * -ENOMEM. */
int hp3d_ud_peers_make(struct hp3d_ud_peers *p, uint32_t pairs);
/* Returns 0, or -1 with the reason in `why`. `port`: hp3's own UDP port. */
int hp3d_ud_peers_open(
	struct hp3d_ud_peers *p, uint32_t pairs, uint16_t port, char *why, size_t cap);
void hp3d_ud_peers_close(struct hp3d_ud_peers *p);
/* Adds a socket to `epoll`. Returns 0, or -1 and errno. */
int hp3d_ud_peers_watch(struct hp3d_ud_peers *p, int fd);

/* NULL: the table has no such peer. */
struct hp3d_ud_peer *hp3d_ud_peers_find(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote);
/* Returns the peer. A new peer replaces the peer of its set for which hp3d has had no frame for the
 * longest time. NULL: the set is full of peers with which the local RNIC has queue pairs. */
struct hp3d_ud_peer *hp3d_ud_peers_add(struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local,
	const uint8_t *remote, uint64_t now);
/* meet: the local RNIC has queue pairs with this peer. part: the last of these queue pairs has
 * ended. */
void hp3d_ud_peers_meet(struct hp3d_ud_peer *peer, uint64_t now);
void hp3d_ud_peers_part(struct hp3d_ud_peer *peer);
/* hp3d has a frame for this peer. Sends a question if the peer has not answered yet, or if several
 * frames to the peer got no reply. */
void hp3d_ud_peers_want(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now);
/* True: hp3d may send a message of key agreement to the peer. False: the latest answer is not
 * fresh. If the peer has answered before, hp3d then sends it another question. */
bool hp3d_ud_peers_confirm(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now);
/* Handles datagrams that arrived at the sockets; returns their number. */
uint32_t hp3d_ud_peers_poll(struct hp3d_ud_peers *p, uint64_t now);
/* Sends questions that are due, a bounded number. Returns when to call it next. */
uint64_t hp3d_ud_peers_tick(struct hp3d_ud_peers *p, uint64_t now);
