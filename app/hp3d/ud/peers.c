/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions for queue pairs, and answers. */
#include "app/hp3d/ud/peers.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "app/hp3d/ud/socket.h"
#include "base/minmax.h"
#include "probes/keying.h"

#define MS         1000000ull
#define TICK_NS    (20 * MS)
#define FIRST_NS   (50 * MS) /* until the second question; doubles each time */
#define DOUBLINGS  7u
#define AGAIN_NS   (8000 * MS) /* after an answer: the peer may have other queue pairs by then */
#define FRESH_NS   (HP3D_UD_FRESH_S * 1000 * MS)
#define SOON_NS    (200 * MS) /* shortest time between two questions to a peer */
#define WANTED_NS  (60000 * MS) /* a peer is not asked if hp3d had no frame for it in this time */
#define DOUBT      8u /* frames without an answer: the peer may have other queue pairs */
#define PEER_TURNS 64u /* datagrams per call */
#define QUESTIONS  128u /* per tick */
#define LOOKS      8192u /* places per tick */
#define OTHER_PORT 3u /* a new port after so many questions without an answer */
#define PORT_NS    (1000 * MS) /* answers to the previous port may still arrive */
#define NEVER      UINT64_MAX

/* A user who gets the QPN of a stopped hp3d cannot replace its identity. */
_Static_assert(HP3D_UD_FRESH_S < HP3_KEYING_SILENT_S, "no message of agreement by then");
_Static_assert(AGAIN_NS < FRESH_NS, "answers of a peer that is there are fresh");

int hp3d_ud_peers_open(
	struct hp3d_ud_peers *p, uint32_t pairs, uint16_t port, char *why, size_t cap)
{
	if (getrandom(p->secret.bytes, sizeof(p->secret.bytes), 0) != sizeof(p->secret.bytes)) {
		snprintf(why, cap, "getrandom: %s", strerror(errno));
		return -1;
	}
	if (hp3d_ud_peers_make(p, pairs) < 0) {
		snprintf(why, cap, "no memory for peers; lower [flows] max_pairs");
		return -1;
	}
	p->port = port;
	p->before = -1;
	p->asks = hp3d_ud_socket_privileged();
	p->plain = p->asks < 0 && errno == EACCES;
	if (p->plain)
		p->asks = hp3d_ud_socket(0);
	p->answers = hp3d_ud_socket(port);
	if (p->asks >= 0 && p->answers >= 0)
		return 0;
	if (p->answers < 0)
		snprintf(why, cap, "UDP port %u ([probes] port) cannot be had: %s", port,
			strerror(errno));
	else
		snprintf(why, cap, "no UDP port for questions to peers can be had");
	return -1;
}

void hp3d_ud_peers_close(struct hp3d_ud_peers *p)
{
	if (p->asks >= 0)
		close(p->asks);
	if (p->before >= 0)
		close(p->before);
	if (p->answers >= 0)
		close(p->answers);
	p->asks = p->before = p->answers = -1;
	free(p->peer);
	free(p->look);
	p->peer = NULL;
	p->look = NULL;
}

static struct hp3_addressing addressing_between(
	bool ipv6, const uint8_t *src, const uint8_t *dst, uint16_t sport)
{
	struct hp3_addressing a = {.ipv6 = ipv6, .sport = sport};

	memcpy(a.src_ip, src, ipv6 ? 16 : 4);
	memcpy(a.dst_ip, dst, ipv6 ? 16 : 4);
	return a;
}

int hp3d_ud_peers_watch(struct hp3d_ud_peers *p, int fd)
{
	return hp3d_epoll_add(p->epoll, fd, EPOLLIN, p->event);
}

/*
 * Changes the port of questions, because the present port's path may be dead. All peers share the
 * socket, and many may be silent. So changes are rare: answers of other peers need time to arrive.
 */
static void change_port(struct hp3d_ud_peers *p, uint64_t now)
{
	int fd;

	if (p->changed != 0 && now - p->changed < PORT_NS)
		return;
	fd = p->plain ? hp3d_ud_socket(0) : hp3d_ud_socket_privileged();
	if (fd < 0)
		return;
	if (hp3d_ud_peers_watch(p, fd) < 0) {
		close(fd);
		return;
	}
	if (p->before >= 0)
		close(p->before); /* which also removes it from epoll */
	p->before = p->asks;
	p->asks = fd;
	p->changed = now;
}

static uint64_t *look_of(struct hp3d_ud_peers *p, const struct hp3d_ud_peer *peer)
{
	return &p->look[peer - p->peer];
}

static void ask_peer(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now)
{
	struct hp3d_ud_ends to = {.ipv6 = peer->ipv6, .rport = p->port};
	struct hp3_addressing a;
	uint8_t buf[HP3_HELLO_LEN];

	if (peer->tries % OTHER_PORT == OTHER_PORT - 1)
		change_port(p, now);
	if (getrandom(&peer->nonce, sizeof(peer->nonce), 0) != sizeof(peer->nonce))
		return;
	peer->nonce |= 1;
	peer->asked = now;
	peer->due = now + (FIRST_NS << hp3_min_u32(peer->tries++, DOUBLINGS));
	*look_of(p, peer) = peer->due;
	a = addressing_between(peer->ipv6, peer->local, peer->remote, hp3d_ud_socket_port(p->asks));
	hp3d_agent_ask(p->agent, &a, p->ours.qkey, peer->nonce, buf);
	memcpy(to.local, peer->local, sizeof(to.local));
	memcpy(to.remote, peer->remote, sizeof(to.remote));
	hp3d_ud_socket_send(p->asks, buf, sizeof(buf), &to);
}

static bool may_ask(const struct hp3d_ud_peer *peer, uint64_t now)
{
	return peer->asked == 0 || now - peer->asked >= SOON_NS;
}

void hp3d_ud_peers_want(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now)
{
	peer->wanted = now;
	*look_of(p, peer) = hp3_min_u64(*look_of(p, peer), peer->due);
	if ((peer->answer.n == 0 && now >= peer->due) ||
		(peer->unanswered >= DOUBT && may_ask(peer, now)))
		ask_peer(p, peer, now);
}

bool hp3d_ud_peers_confirm(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now)
{
	if (peer->answer.n != 0 && now - peer->answered < FRESH_NS)
		return true;
	if (peer->answer.n != 0 && peer->tries == 0 && may_ask(peer, now))
		ask_peer(p, peer, now);
	return false;
}

static void take_answer(struct hp3d_ud_peers *p, const struct hp3d_ud_ends *from,
	const struct hp3_hello *h, uint64_t now)
{
	struct hp3d_ud_peer *peer = hp3d_ud_peers_find(p, from->ipv6, from->local, from->remote);
	struct hp3_ends ends = {.ipv6 = from->ipv6, .local = from->local, .remote = from->remote};

	if (peer == NULL || peer->nonce == 0 || h->nonce != peer->nonce) {
		hp3d_agent_stray_hello(p->agent);
		return;
	}
	peer->answer = *h;
	peer->answered = peer->asked;
	peer->nonce = 0;
	peer->tries = peer->unanswered = 0;
	peer->due = *look_of(p, peer) = peer->answered + AGAIN_NS;
	hp3_peer_seen(p->engine, &ends, now);
}

/*
 * hp3d answers a question. It also asks the peer: answers to the peer's probes need its queue
 * pairs, and hp3d does not take them from a question, which anybody can forge. A new Q_Key means
 * that the peer's hp3d has restarted. Without a key, the source address may be forged, so hp3d
 * sends at most one datagram for each received datagram. It then asks first, and answers the peer's
 * next question.
 */
static void answer_question(struct hp3d_ud_peers *p, const struct hp3d_ud_ends *from,
	const struct hp3_hello *h, uint64_t now)
{
	struct hp3_addressing back = addressing_between(
		from->ipv6, from->local, from->remote, hp3d_ud_socket_port(p->asks));
	struct hp3d_ud_peer *peer =
		hp3d_ud_peers_add(p, from->ipv6, from->local, from->remote, now);
	uint8_t buf[HP3_HELLO_LEN];
	bool asks = peer != NULL && (peer->answer.n == 0 || peer->answer.qkey != h->qkey) &&
		    may_ask(peer, now);

	if (!asks || hp3d_agent_has_key(p->agent)) {
		hp3d_agent_answer_hello(p->agent, &back, from->rport, h, &p->ours, buf);
		hp3d_ud_socket_send(p->asks, buf, sizeof(buf), from);
	}
	if (asks)
		ask_peer(p, peer, now);
}

static bool take_datagram(struct hp3d_ud_peers *p, int fd, uint64_t now)
{
	uint8_t buf[HP3_HELLO_LEN + 1];
	struct hp3d_ud_ends from;
	ssize_t n = hp3d_ud_socket_receive(fd, buf, sizeof(buf), &from);
	uint16_t dport = fd == p->answers ? p->port : hp3d_ud_socket_port(fd);
	struct hp3_addressing a =
		addressing_between(from.ipv6, from.remote, from.local, from.rport);
	struct hp3_hello h;

	if (n < 0)
		return false;
	if (hp3d_agent_read_hello(p->agent, &a, dport, buf, (size_t)n, now, &h) < 0)
		return true;
	if (h.kind == HP3_HELLO_ASK && fd == p->answers)
		answer_question(p, &from, &h, now);
	else if (h.kind == HP3_HELLO_ANSWER && fd != p->answers)
		take_answer(p, &from, &h, now);
	return true;
}

uint32_t hp3d_ud_peers_poll(struct hp3d_ud_peers *p, uint64_t now)
{
	uint32_t n = 0;

	while (n < PEER_TURNS && take_datagram(p, p->answers, now))
		n++;
	while (n < 2 * PEER_TURNS && take_datagram(p, p->asks, now))
		n++;
	while (n < 3 * PEER_TURNS && p->before >= 0 && take_datagram(p, p->before, now))
		n++;
	return n;
}

static bool is_wanted(const struct hp3d_ud_peer *peer, uint64_t now)
{
	return peer->used && peer->wanted != 0 && now - peer->wanted < WANTED_NS;
}

uint64_t hp3d_ud_peers_tick(struct hp3d_ud_peers *p, uint64_t now)
{
	uint32_t asked = 0;

	if (p->ticked != 0 && now - p->ticked < TICK_NS)
		return p->ticked + TICK_NS;
	p->ticked = now;
	for (uint32_t looks = 0; looks < hp3_min_u32(p->n, LOOKS) && asked < QUESTIONS; looks++) {
		uint32_t i = p->at;

		p->at = (p->at + 1) % p->n;
		if (p->look[i] > now)
			continue;
		if (is_wanted(&p->peer[i], now)) {
			ask_peer(p, &p->peer[i], now);
			asked++;
		} else {
			p->look[i] = NEVER;
		}
	}
	return now + TICK_NS;
}
