/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control channel through a relay that cuts connections: no message is lost or repeated. Stray
 * connections have no effect. A process that is killed is noticed.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "two_domains.h"
#include "xfer/lib/frame.h"

#define CUT_BYTES 5000u /* the relay cuts a connection after so many bytes */
#define MESSAGES  1000u

struct relay {
	int listener, stop[2];
	struct sockaddr_in to;
	uint32_t cuts;
	bool never_cut;
	pthread_t thread;
};

static struct sockaddr_in address_of(const char *text)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};

	a.sin_port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
	return a;
}

/* Carries bytes both ways until the cut. False: the test is over. */
static bool connection_relay(struct relay *r, int in, int out)
{
	size_t carried = 0;
	char bytes[997];

	while (r->never_cut || carried < CUT_BYTES) {
		struct pollfd p[3] = {{in, POLLIN, 0}, {out, POLLIN, 0}, {r->stop[0], POLLIN, 0}};

		poll(p, 3, -1);
		if (p[2].revents != 0)
			return false;
		for (int i = 0; i < 2; i++) {
			ssize_t n = p[i].revents == 0 ? 0 : read(p[i].fd, bytes, sizeof(bytes));

			if (n < 0 || (n == 0 && p[i].revents != 0))
				return true;
			if (n > 0 && send(p[1 - i].fd, bytes, (size_t)n, MSG_NOSIGNAL) != n)
				return true;
			carried += (size_t)n;
		}
	}
	return true;
}

static void *relay_run(void *arg)
{
	struct relay *r = arg;

	for (bool more = true; more; r->cuts++) {
		struct pollfd p[2] = {{r->listener, POLLIN, 0}, {r->stop[0], POLLIN, 0}};
		int in, out;

		poll(p, 2, -1);
		if (p[1].revents != 0)
			break;
		in = accept(r->listener, NULL, NULL);
		out = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(out, (struct sockaddr *)&r->to, sizeof(r->to)) == 0)
			more = connection_relay(r, in, out);
		close(in);
		close(out);
	}
	return NULL;
}

static void relay_stop(struct relay *r)
{
	assert_int_equal(write(r->stop[1], "", 1), 1);
	pthread_join(r->thread, NULL);
	close(r->listener);
	close(r->stop[0]);
	close(r->stop[1]);
}

/* A second connection of a to b, through the relay. */
static void relayed_connect(
	struct two *t, struct relay *r, struct hp3x_peer **a, struct hp3x_peer **b)
{
	uint64_t until = deadline_in(PATIENCE);
	char address[32];

	r->listener = loopback_listen(address);
	r->to = address_of(hp3x_address(t->b.domain));
	assert_int_equal(pipe(r->stop), 0);
	assert_int_equal(pthread_create(&r->thread, NULL, relay_run, r), 0);
	assert_int_equal(hp3x_connect(t->a.domain, address, a), 0);
	while (hp3x_accept(t->b.domain, b) == 0) {
		assert_true(deadline_in(0) < until);
		two_wait(t);
	}
}

static void number_expect(struct two *t, struct hp3x_domain *d, uint32_t expected)
{
	uint64_t until = deadline_in(PATIENCE);
	struct hp3x_peer *from;
	uint32_t got[20];
	int n;

	while ((n = hp3x_receive(d, got, sizeof(got), &from)) == -EAGAIN) {
		assert_true(deadline_in(0) < until);
		two_wait(t);
	}
	assert_int_equal(n, sizeof(got));
	assert_int_equal(got[0], expected);
}

static void number_send(struct two *t, struct hp3x_peer *p, uint32_t number)
{
	uint32_t data[20] = {number};
	struct hp3x_completion c[64];

	while (hp3x_send(p, data, sizeof(data), NULL) < 0)
		two_wait(t);
	hp3x_poll(t->a.domain, c, 64);
	hp3x_poll(t->b.domain, c, 64);
}

static void broken_connections_lose_nothing(void **state)
{
	struct relay r = {0};
	struct two *t = *state;
	struct hp3x_peer *a, *b;

	relayed_connect(t, &r, &a, &b);
	for (uint32_t i = 0; i < MESSAGES; i += 100) {
		for (uint32_t k = 0; k < 100; k++) {
			number_send(t, a, i + k);
			number_send(t, b, i + k);
		}
		for (uint32_t k = 0; k < 100; k++) {
			number_expect(t, t->b.domain, i + k);
			number_expect(t, t->a.domain, i + k);
		}
	}
	assert_true(r.cuts > 20);
	assert_int_equal(hp3x_peer_state(a), HP3X_PEER_UP);
	assert_int_equal(hp3x_peer_state(b), HP3X_PEER_UP);
	relay_stop(&r);
}

/* Nobody answers any more: the peer is lost after peer_timeout_ms, with a sentence. */
static void silence_ends_a_peer(void **state)
{
	struct two *t = two_open(false, 600);
	struct relay r = {.never_cut = true};
	uint64_t until = deadline_in(PATIENCE);
	struct hp3x_peer *a, *b;

	relayed_connect(t, &r, &a, &b);
	while (hp3x_peer_state(a) != HP3X_PEER_UP)
		two_wait(t);
	relay_stop(&r);
	while (hp3x_peer_state(a) != HP3X_PEER_GONE || hp3x_peer_state(b) != HP3X_PEER_GONE) {
		assert_true(deadline_in(0) < until);
		two_wait(t);
	}
	assert_non_null(strstr(hp3x_peer_reason(b), "peer_timeout_ms"));
	assert_int_equal(hp3x_peer_state(t->a.peer), HP3X_PEER_UP);
	two_close(t);
}

static void nobody_at_the_address(void **state)
{
	struct hp3x_options o = {
		.provider = "tcp", .listen = "127.0.0.1:0", .peer_timeout_ms = 300};
	struct hp3x_completion c;
	struct hp3x_domain *d;
	struct hp3x_peer *p;
	char address[32];
	int64_t op;

	close(loopback_listen(address));
	assert_int_equal(hp3x_open(&o, &d), 0);
	assert_int_equal(hp3x_connect(d, "somewhere:1", &p), -EINVAL);
	assert_int_equal(hp3x_connect(d, address, &p), 0);
	op = hp3x_send(p, "x", 1, NULL);
	while (hp3x_poll(d, &c, 1) == 0)
		poll(&(struct pollfd){hp3x_fd(d), POLLIN, 0}, 1, 20);
	assert_int_equal(c.op, op);
	assert_int_equal(c.status, HP3X_PEER_LOST);
	assert_int_equal(hp3x_peer_state(p), HP3X_PEER_GONE);
	assert_true(hp3x_peer_reason(p)[0] != '\0');
	/* A domain is no peer of itself. */
	hp3x_peer_close(p);
	assert_int_equal(hp3x_connect(d, hp3x_address(d), &p), 0);
	while (hp3x_peer_state(p) != HP3X_PEER_GONE)
		poll(&(struct pollfd){hp3x_fd(d), POLLIN, 0}, 1, 20);
	assert_non_null(strstr(hp3x_peer_reason(p), "own domain"));
	hp3x_close(d);
}

static void stray_connections_have_no_effect(void **state)
{
	struct two *t = *state;
	struct sockaddr_in to = address_of(hp3x_address(t->b.domain));
	struct hp3x_peer *none;
	uint32_t number = 5;
	char junk[300];
	int fd[100];

	memset(junk, 0xff, sizeof(junk));
	for (uint32_t i = 0; i < 100; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&to, sizeof(to)), 0);
		if (i % 2 == 0)
			assert_true(send(fd[i], junk, i * 3, MSG_NOSIGNAL) >= 0);
	}
	number_send(t, t->a.peer, number);
	number_expect(t, t->b.domain, number);
	assert_int_equal(hp3x_accept(t->b.domain, &none), 0);
	for (uint32_t i = 0; i < 100; i++)
		close(fd[i]);
}

/* The process of the peer is killed in the middle of a write. */
static void a_killed_process_is_noticed(void **state)
{
	struct hp3x_options o = {
		.provider = "tcp", .listen = "127.0.0.1:0", .peer_timeout_ms = 600000};
	struct hp3x_completion c = {0};
	char text[HP3X_DESCRIPTION + 80];
	struct hp3x_domain *d;
	struct hp3x_region *r;
	struct hp3x_remote there;
	struct hp3x_peer *p;
	uint8_t *memory;
	int to_parent[2];
	pid_t child;
	ssize_t n;

	assert_int_equal(pipe(to_parent), 0);
	child = fork();
	if (child == 0) {
		memory = malloc(LENGTH);
		if (hp3x_open(&o, &d) < 0 || hp3x_region_add(d, memory, LENGTH, &r) < 0)
			_exit(1);
		snprintf(text, 80, "%s", hp3x_address(d));
		n = hp3x_region_describe(r, text + 80, HP3X_DESCRIPTION);
		if (write(to_parent[1], text, 80 + (size_t)n) < 0)
			_exit(1);
		pause();
	}
	n = read(to_parent[0], text, sizeof(text));
	assert_true(n > 80);
	assert_int_equal(hp3x_remote_read(text + 80, (size_t)n - 80, &there), 0);
	assert_int_equal(hp3x_open(&o, &d), 0);
	assert_int_equal(hp3x_connect(d, text, &p), 0);
	memory = calloc(1, LENGTH);
	assert_int_equal(hp3x_region_add(d, memory, LENGTH, &r), 0);
	for (uint32_t i = 0; c.status == HP3X_OK; i++) {
		struct hp3x_write w = {.from = r, .to = &there, .length = LENGTH};

		if (hp3x_write(p, &w) < 0)
			break;
		if (i == 3)
			kill(child, SIGKILL);
		while (hp3x_poll(d, &c, 1) == 0)
			poll(&(struct pollfd){hp3x_fd(d), POLLIN, 0}, 1, 20);
	}
	assert_int_equal(c.status, HP3X_PEER_LOST);
	assert_int_equal(waitpid(child, NULL, 0), child);
	hp3x_close(d);
	free(memory);
}

/* The reason of a peer that refuses is printed: it must not control a terminal. */
static void a_refusal_is_plain_text(void **state)
{
	struct two *t = *state;
	uint64_t until = deadline_in(PATIENCE);
	char address[32];
	int listener = loopback_listen(address), fd;
	struct {
		struct hp3x_frame frame;
		char text[8];
	} m = {.frame = {.kind = HP3X_FRAME_REFUSE, .length = htole32(8)}, .text = "no\033[2J!"};
	struct hp3x_peer *p;

	assert_int_equal(hp3x_connect(t->a.domain, address, &p), 0);
	fd = accept(listener, NULL, NULL);
	assert_int_equal(send(fd, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
	while (hp3x_peer_state(p) != HP3X_PEER_GONE) {
		assert_true(deadline_in(0) < until);
		two_wait(t);
	}
	assert_string_equal(hp3x_peer_reason(p), "no?[2J!");
	close(fd);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_process_is_noticed), /* first: it forks */
		cmocka_unit_test_setup_teardown(
			broken_connections_lose_nothing, two_setup, two_teardown),
		cmocka_unit_test(silence_ends_a_peer),
		cmocka_unit_test(nobody_at_the_address),
		cmocka_unit_test_setup_teardown(
			stray_connections_have_no_effect, two_setup, two_teardown),
		cmocka_unit_test_setup_teardown(a_refusal_is_plain_text, two_setup, two_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
