/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: requests for queue pairs, by sockets, in simulated time. Peers are addresses of lo;
 * the test answers in place of some of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <cmocka.h>
#include "app/hp3d/ud/peers.h"
#include "app/hp3d/ud/socket.h"
#include "roce/wire.h"

#define MS     1000000ull
#define SECOND (1000 * MS)
#define TICK   (20 * MS)

static struct hp3d_ud_peers peers;
static const uint8_t us[16] = {127, 0, 0, 1};
static const struct hp3_probe_keys keys;
static uint64_t now;
static unsigned asked; /* questions */

/* --- what hp3d's agent and engine are here --- */

void hp3d_agent_ask(struct hp3d_agent *a, const struct hp3_addressing *to, uint32_t qkey,
	uint64_t nonce, void *buf)
{
	const struct hp3_hello h = {.kind = HP3_HELLO_ASK, .qkey = qkey, .nonce = nonce};

	asked++;
	hp3_hello_build(buf, to, peers.port, &h, &keys.key[0]);
}

void hp3d_agent_answer_hello(struct hp3d_agent *a, const struct hp3_addressing *to, uint16_t dport,
	const struct hp3_hello *ask, const struct hp3_hello *ours, void *buf)
{
	fail(); /* nobody asks hp3d */
}

int hp3d_agent_read_hello(struct hp3d_agent *a, const struct hp3_addressing *from, uint16_t dport,
	const void *buf, size_t n, uint64_t t, struct hp3_hello *h)
{
	return hp3_hello_read(&(struct hp3_hello_datagram){from, dport, buf, n}, &keys, h);
}

bool hp3d_agent_has_key(const struct hp3d_agent *a)
{
	return false;
}

void hp3d_agent_stray_hello(struct hp3d_agent *a)
{
}

void hp3_peer_seen(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t t)
{
}

/* --- a peer --- */

static int honest; /* the socket of the peer that answers; -1: it is down */

static struct hp3d_ud_peer *meet(uint32_t host)
{
	uint8_t remote[16] = {0};
	struct hp3d_ud_peer *peer;

	hp3_put_be32(remote, 0x7f010000u + host);
	peer = hp3d_ud_peers_add(&peers, false, us, remote, now);
	assert_non_null(peer);
	hp3d_ud_peers_meet(peer, now);
	hp3d_ud_peers_want(&peers, peer, now);
	return peer;
}

static void answer(void)
{
	uint8_t buf[HP3_HELLO_LEN];
	struct hp3d_ud_ends from;
	struct hp3_addressing a = {0};
	struct hp3_hello h;

	while (honest >= 0 &&
		hp3d_ud_socket_receive(honest, buf, sizeof(buf), &from) == HP3_HELLO_LEN) {
		a.sport = from.rport;
		memcpy(a.src_ip, from.remote, 4);
		memcpy(a.dst_ip, from.local, 4);
		if (hp3_hello_read(&(struct hp3_hello_datagram){&a, peers.port, buf, sizeof(buf)},
			    &keys, &h) < 0)
			continue; /* for another peer, to the same port of lo */
		h.kind = HP3_HELLO_ANSWER;
		h.n = 1;
		h.qpn[0] = 77;
		memcpy(a.src_ip, from.local, 4);
		memcpy(a.dst_ip, from.remote, 4);
		a.sport = peers.port;
		hp3_hello_build(buf, &a, from.rport, &h, &keys.key[0]);
		if (from.local[3] == 1)
			hp3d_ud_socket_send(honest, buf, sizeof(buf), &from);
	}
}

/* Until `end`: answers arrive between two ticks. */
static void pass(uint64_t end, const struct hp3d_ud_peer *keep)
{
	while (now < end) {
		now += TICK;
		for (uint32_t i = 0; i < peers.n; i++)
			if (peers.peer[i].used)
				peers.peer[i].wanted = now;
		hp3d_ud_peers_tick(&peers, now);
		answer();
		hp3d_ud_peers_poll(&peers, now);
		if (keep != NULL && keep->answer.n != 0)
			return;
	}
}

static int setup(void **state)
{
	char why[256];

	memset(&peers, 0, sizeof(peers));
	now = 1000 * SECOND;
	asked = 0;
	/* The port of all hosts: any that is free; hp3d's own answers are not looked at. */
	honest = hp3d_ud_socket(0);
	peers.epoll = epoll_create1(EPOLL_CLOEXEC);
	peers.event = 1;
	if (hp3d_ud_peers_open(&peers, 4096, 0, why, sizeof(why)) < 0)
		return -1;
	peers.port = hp3d_ud_socket_port(honest);
	return hp3d_ud_peers_watch(&peers, peers.asks);
}

static int teardown(void **state)
{
	hp3d_ud_peers_close(&peers);
	close(peers.epoll);
	if (honest >= 0)
		close(honest);
	return 0;
}

/* Others are silent, so the port changes while the answer is on its way. */
static void an_answer_to_the_port_before(void **state)
{
	struct hp3d_ud_peer *silent = meet(2), *peer;
	uint16_t port = hp3d_ud_socket_port(peers.asks);

	while (silent->tries < 2)
		pass(now + TICK, NULL);
	now = silent->due;
	peer = meet(1);
	hp3d_ud_peers_tick(&peers, now);
	assert_int_equal(silent->tries, 3);
	assert_int_not_equal(hp3d_ud_socket_port(peers.asks), port);
	answer();
	hp3d_ud_peers_poll(&peers, now);
	assert_int_equal(peer->answer.n, 1);
}

/* Any number of peers may be silent: users can make them up. */
static void the_port_changes_once_a_second(void **state)
{
	uint16_t port = hp3d_ud_socket_port(peers.asks);
	unsigned changes = 0;

	for (uint32_t i = 2; i < 1002; i++)
		meet(i);
	for (uint64_t end = now + 20 * SECOND; now < end; port = hp3d_ud_socket_port(peers.asks)) {
		pass(now + TICK, NULL);
		changes += hp3d_ud_socket_port(peers.asks) != port;
	}
	assert_in_range(changes, 1, 20);
}

/* Many become due at once; no tick takes longer for that. */
static void questions_of_a_tick_are_bounded(void **state)
{
	for (uint32_t i = 2; i < 1002; i++)
		meet(i);
	now += 60 * SECOND;
	for (uint32_t i = 0; i < peers.n; i++)
		peers.peer[i].wanted = now;
	for (unsigned tick = 0; tick < 8; tick++) {
		now += TICK;
		asked = 0;
		hp3d_ud_peers_tick(&peers, now);
		assert_in_range(asked, 1000 - 7 * 128, 128);
	}
}

/* Its hp3d has stopped: within 9 s no message of key agreement goes to the queue pairs that it
 * named. hp3d begins anew when it answers again. */
static void an_answer_is_fresh_for_a_while(void **state)
{
	struct hp3d_ud_peer *peer = meet(1);
	int socket = honest;
	uint64_t gone;

	pass(now + SECOND, peer);
	pass(now + 60 * SECOND, NULL);
	assert_true(hp3d_ud_peers_confirm(&peers, peer, now));
	honest = -1;
	gone = now;
	while (hp3d_ud_peers_confirm(&peers, peer, now))
		pass(now + TICK, NULL);
	assert_in_range(now - gone, 0, HP3D_UD_FRESH_S * SECOND + TICK);
	pass(now + 100 * SECOND, NULL);
	assert_false(hp3d_ud_peers_confirm(&peers, peer, now));
	honest = socket;
	answer(); /* of old questions: of no use any more */
	pass(now + 7 * SECOND, NULL);
	assert_true(hp3d_ud_peers_confirm(&peers, peer, now));
}

/* As long as it answers. */
static void answers_of_a_peer_are_fresh(void **state)
{
	struct hp3d_ud_peer *peer = meet(1);

	pass(now + SECOND, peer);
	for (uint64_t end = now + 100 * SECOND; now < end; pass(now + TICK, NULL))
		assert_true(hp3d_ud_peers_confirm(&peers, peer, now));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_to_the_port_before),
		TEST(the_port_changes_once_a_second),
		TEST(questions_of_a_tick_are_bounded),
		TEST(an_answer_is_fresh_for_a_while),
		TEST(answers_of_a_peer_are_fresh),
	};

	return cmocka_run_group_tests_name("ud_questions", tests, NULL, NULL);
}
