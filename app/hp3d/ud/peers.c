/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/peers.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include "app/hp3d/ud/socket.h"
#include "base/minmax.h"

#define WAYS       8u
#define MS         1000000ull
#define TICK_NS    (20 * MS)
#define FIRST_NS   (50 * MS) /* until the second question; then twice as long each time */
#define DOUBLINGS  7u
#define AGAIN_NS   (10000 * MS) /* it has told: perhaps something else by now */
#define SOON_NS    (200 * MS) /* no two questions within, for whatever reason */
#define KEPT_NS    (60000 * MS) /* whom nobody wants for so long is not asked */
#define DOUBT      8u /* frames without an answer: perhaps it has other queue pairs */
#define TURNS      64u /* datagrams per call */
#define OTHER_PORT 3u /* every so many questions without an answer */

int hp3d_ud_peers_open(struct hp3d_ud_peers *p, uint16_t port, char *why, size_t cap)
{
	if (getrandom(p->secret.bytes, sizeof(p->secret.bytes), 0) != sizeof(p->secret.bytes)) {
		snprintf(why, cap, "getrandom: %s", strerror(errno));
		return -1;
	}
	p->port = port;
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
	if (p->answers >= 0)
		close(p->answers);
	p->asks = p->answers = -1;
}

static struct hp3_addressing between(
	bool ipv6, const uint8_t *src, const uint8_t *dst, uint16_t sport)
{
	struct hp3_addressing a = {.ipv6 = ipv6, .sport = sport};

	memcpy(a.src_ip, src, ipv6 ? 16 : 4);
	memcpy(a.dst_ip, dst, ipv6 ? 16 : 4);
	return a;
}

static struct hp3d_ud_peer *set_of(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote)
{
	struct hp3_addressing a = between(ipv6, local, remote, 0);

	return &p->peer[hp3_tag(&p->secret, HP3_TAG_SOURCE, &a, 0, "", 0) % (HP3D_UD_PEERS / WAYS) *
			WAYS];
}

struct hp3d_ud_peer *hp3d_ud_peers_find(
	struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local, const uint8_t *remote)
{
	size_t len = ipv6 ? 16 : 4;
	struct hp3d_ud_peer *peer = set_of(p, ipv6, local, remote);

	for (struct hp3d_ud_peer *end = peer + WAYS; peer < end; peer++)
		if (peer->used && peer->ipv6 == ipv6 && memcmp(peer->local, local, len) == 0 &&
			memcmp(peer->remote, remote, len) == 0)
			return peer;
	return NULL;
}

static bool is_wanted(const struct hp3d_ud_peer *peer, uint64_t now)
{
	return peer->used && peer->wanted != 0 && now - peer->wanted < KEPT_NS;
}

struct hp3d_ud_peer *hp3d_ud_peers_add(struct hp3d_ud_peers *p, bool ipv6, const uint8_t *local,
	const uint8_t *remote, uint64_t now)
{
	struct hp3d_ud_peer *peer = hp3d_ud_peers_find(p, ipv6, local, remote), *set, *oldest;
	size_t len = ipv6 ? 16 : 4;

	if (peer != NULL)
		return peer;
	oldest = set = set_of(p, ipv6, local, remote);
	for (uint32_t i = 1; i < WAYS; i++)
		if (oldest->used && (!set[i].used || set[i].wanted < oldest->wanted))
			oldest = &set[i];
	if (is_wanted(oldest, now))
		return NULL;
	*oldest = (struct hp3d_ud_peer){.used = true, .ipv6 = ipv6};
	memcpy(oldest->local, local, len);
	memcpy(oldest->remote, remote, len);
	return oldest;
}

int hp3d_ud_peers_watch(struct hp3d_ud_peers *p, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = p->event};

	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* Perhaps the path that this port draws is dead. */
static void change_port(struct hp3d_ud_peers *p)
{
	int fd = p->plain ? hp3d_ud_socket(0) : hp3d_ud_socket_privileged();

	if (fd < 0)
		return;
	if (hp3d_ud_peers_watch(p, fd) < 0) {
		close(fd);
		return;
	}
	close(p->asks); /* which ends the wait for it */
	p->asks = fd;
}

static void ask(struct hp3d_ud_peers *p, struct hp3d_ud_peer *peer, uint64_t now)
{
	struct hp3d_ud_ends to = {.ipv6 = peer->ipv6, .rport = p->port};
	struct hp3_addressing a;
	uint8_t buf[HP3_HELLO_LEN];

	if (peer->tries % OTHER_PORT == OTHER_PORT - 1)
		change_port(p);
	if (getrandom(&peer->nonce, sizeof(peer->nonce), 0) != sizeof(peer->nonce))
		return;
	peer->nonce |= 1;
	peer->asked = now;
	peer->due = now + (FIRST_NS << hp3_min_u32(peer->tries++, DOUBLINGS));
	a = between(peer->ipv6, peer->local, peer->remote, hp3d_ud_socket_port(p->asks));
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
	if ((peer->told.n == 0 && now >= peer->due) ||
		(peer->unanswered >= DOUBT && may_ask(peer, now)))
		ask(p, peer, now);
}

static void told(struct hp3d_ud_peers *p, const struct hp3d_ud_ends *from,
	const struct hp3_hello *h, uint64_t now)
{
	struct hp3d_ud_peer *peer = hp3d_ud_peers_find(p, from->ipv6, from->local, from->remote);
	struct hp3_ends ends = {.ipv6 = from->ipv6, .local = from->local, .remote = from->remote};

	if (peer == NULL || peer->nonce == 0 || h->nonce != peer->nonce) {
		hp3d_agent_stray_hello(p->agent);
		return;
	}
	peer->told = *h;
	peer->nonce = 0;
	peer->tries = peer->unanswered = 0;
	peer->due = now + AGAIN_NS;
	hp3_peer_seen(p->engine, &ends, now);
}

/*
 * He is answered; and asked, for what he wants to know of us are answers to his probes, and what he
 * says in a question anybody may say in his place. Who asks with another Q_Key than he told has
 * begun anew. Without a key his address may be another's, to which no more is sent than came: then
 * he is asked in place of the answer, and answered when he asks again.
 */
static void asked(struct hp3d_ud_peers *p, const struct hp3d_ud_ends *from,
	const struct hp3_hello *h, uint64_t now)
{
	struct hp3_addressing back =
		between(from->ipv6, from->local, from->remote, hp3d_ud_socket_port(p->asks));
	struct hp3d_ud_peer *peer =
		hp3d_ud_peers_add(p, from->ipv6, from->local, from->remote, now);
	uint8_t buf[HP3_HELLO_LEN];
	bool asks = peer != NULL && (peer->told.n == 0 || peer->told.qkey != h->qkey) &&
		    may_ask(peer, now);

	if (!asks || hp3d_agent_has_key(p->agent)) {
		hp3d_agent_tell(p->agent, &back, from->rport, h, &p->ours, buf);
		hp3d_ud_socket_send(p->asks, buf, sizeof(buf), from);
	}
	if (asks)
		ask(p, peer, now);
}

static bool take(struct hp3d_ud_peers *p, int fd, uint64_t now)
{
	uint8_t buf[HP3_HELLO_LEN + 1];
	struct hp3d_ud_ends from;
	ssize_t n = hp3d_ud_socket_receive(fd, buf, sizeof(buf), &from);
	uint16_t dport = fd == p->asks ? hp3d_ud_socket_port(fd) : p->port;
	struct hp3_addressing a = between(from.ipv6, from.remote, from.local, from.rport);
	struct hp3_hello h;

	if (n < 0)
		return false;
	if (hp3d_agent_heard(p->agent, &a, dport, buf, (size_t)n, now, &h) < 0)
		return true;
	if (h.kind == HP3_HELLO_ASK && fd == p->answers)
		asked(p, &from, &h, now);
	else if (h.kind == HP3_HELLO_TELL && fd == p->asks)
		told(p, &from, &h, now);
	return true;
}

uint32_t hp3d_ud_peers_poll(struct hp3d_ud_peers *p, uint64_t now)
{
	uint32_t n = 0;

	while (n < TURNS && take(p, p->answers, now))
		n++;
	while (n < 2 * TURNS && take(p, p->asks, now))
		n++;
	return n;
}

uint64_t hp3d_ud_peers_tick(struct hp3d_ud_peers *p, uint64_t now)
{
	if (p->ticked != 0 && now - p->ticked < TICK_NS)
		return p->ticked + TICK_NS;
	p->ticked = now;
	for (uint32_t i = 0; i < HP3D_UD_PEERS; i++) {
		struct hp3d_ud_peer *peer = &p->peer[i];

		if (is_wanted(peer, now) && now >= peer->due)
			ask(p, peer, now);
	}
	return now + TICK_NS;
}
