/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_PEERS_H
#define HP3D_UD_PEERS_H
/*
 * Whom hp3d asks for queue pairs, and what it was told (probes/hello.h). Questions leave a socket
 * of their own, which gets another port, and so perhaps another path, when nobody answers; those of
 * others come to hp3's port. Questions and answers leave privileged ports, where hp3d may have one:
 * hosts that agree on keys drop all others, so no user of a peer's host can answer in place of its
 * hp3d. What was told is kept until something else is.
 *
 * Sets of the table are chosen by SipHash with a random key, because anybody may ask, from any
 * address. A peer that somebody has wanted to send to within 60 s keeps its place: a newcomer finds
 * another place in its set, or none. What is sent to a peer without a place is dropped and counted
 * (no_peer).
 */
#include "app/hp3d/pipe/agent.h"

#define HP3D_UD_PEERS 1024u

struct hp3d_ud_peer {
	bool used, ipv6;
	uint8_t local[16], remote[16]; /* IPv4: the first four bytes */
	struct hp3_hello told; /* n is 0: nothing yet */
	uint64_t nonce; /* of the question under way; 0: none is */
	uint64_t asked, due; /* the newest question, the next one */
	uint64_t wanted; /* somebody wanted to send there */
	uint32_t tries; /* questions in a row without an answer */
	uint32_t unanswered; /* frames sent there since one came */
};

struct hp3d_ud_peers {
	struct hp3d_agent *agent;
	struct hp3_engine *engine;
	struct hp3_hello ours; /* what we tell */
	uint16_t port;
	struct hp3_probe_key secret; /* of the table's hash */
	int asks, answers; /* sockets; -1: none. Answers leave `asks`, too */
	int epoll; /* watches both, and tells of them by this number */
	uint32_t event;
	bool plain; /* hp3d may have no privileged port: other ones */
	uint64_t ticked;
	struct hp3d_ud_peer peer[HP3D_UD_PEERS];
};

/* 0, or -1 and why. `port`: hp3's own. */
int hp3d_ud_peers_open(struct hp3d_ud_peers *p, uint16_t port, char *why, size_t cap);
void hp3d_ud_peers_close(struct hp3d_ud_peers *p);
/* `epoll` tells when a socket is readable. 0, or -1 and errno. */
int hp3d_ud_peers_watch(struct hp3d_ud_peers *p, int fd);

/* NULL: unknown. */
struct hp3d_ud_peer *hp3d_ud_peers_find(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote);
/* As it is, or new, in the place of whom nobody has wanted for longest; NULL: its set is full of
 * peers that are wanted. */
struct hp3d_ud_peer *hp3d_ud_peers_add(struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local,
	const uint8_t *remote, uint64_t now);
/* Somebody sends there: he is asked if he has told nothing. */
void hp3d_ud_peers_want(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now);
/* What came to either socket; returns how many datagrams. */
uint32_t hp3d_ud_peers_poll(struct hp3d_ud_peers *p, uint64_t now);
/* Those are asked whose turn it is. Returns when it wants to be called next. */
uint64_t hp3d_ud_peers_tick(struct hp3d_ud_peers *p, uint64_t now);

#endif
