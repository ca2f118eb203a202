/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "two_domains.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include "app/clock.h"

uint64_t deadline_in(uint64_t ns)
{
	return hp3_clock_ns(CLOCK_MONOTONIC) + ns;
}

void bytes_fill(uint8_t *bytes, size_t n, uint32_t from)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 31 + (i >> 9) + from);
}

static void side_open(struct side *s, const struct hp3x_options *o)
{
	if (hp3x_open(o, &s->domain) < 0)
		fail_msg("hp3x_open: %s", hp3x_error());
	s->bytes = calloc(1, LENGTH);
	assert_non_null(s->bytes);
	assert_int_equal(hp3x_region_add(s->domain, s->bytes, LENGTH, &s->region), 0);
}

static void side_learn(struct side *s, const struct side *other)
{
	uint8_t text[HP3X_DESCRIPTION];
	int n = hp3x_region_describe(other->region, text, sizeof(text));

	assert_true(n > 0);
	assert_int_equal(hp3x_remote_read(text, (size_t)n, &s->remote), 0);
}

/* One wait of the domains: their progress, or their descriptors. */
void two_wait(struct two *t)
{
	struct side *both[2] = {&t->a, &t->b};
	struct pollfd fd[2];

	for (int i = 0; i < 2; i++) {
		fd[i] = (struct pollfd){hp3x_fd(both[i]->domain), POLLIN, 0};
		hp3x_progress(both[i]->domain);
	}
	poll(fd, 2, 20);
}

static struct two *two_of(const struct side *s)
{
	return s->peer == NULL ? NULL : hp3x_peer_context(s->peer);
}

struct two *two_open(bool own_progress, uint32_t peer_timeout_ms)
{
	const char *rails[] = {"127.0.0.1", "127.0.0.2"};
	struct hp3x_options o = {.provider = "tcp",
		.rails = rails,
		.n_rails = 2,
		.listen = "127.0.0.1:0",
		.peer_timeout_ms = peer_timeout_ms,
		.own_progress = own_progress};
	struct two *t = calloc(1, sizeof(*t));
	uint64_t until = deadline_in(PATIENCE);

	side_open(&t->a, &o);
	side_open(&t->b, &o);
	assert_int_equal(hp3x_connect(t->a.domain, hp3x_address(t->b.domain), &t->a.peer), 0);
	while (hp3x_accept(t->b.domain, &t->b.peer) == 0) {
		assert_true(hp3_clock_ns(CLOCK_MONOTONIC) < until);
		two_wait(t);
	}
	hp3x_peer_set_context(t->a.peer, t);
	hp3x_peer_set_context(t->b.peer, t);
	side_learn(&t->a, &t->b);
	side_learn(&t->b, &t->a);
	return t;
}

void two_close(struct two *t)
{
	if (t->a.domain != NULL)
		hp3x_close(t->a.domain);
	if (t->b.domain != NULL)
		hp3x_close(t->b.domain);
	free(t->a.bytes);
	free(t->b.bytes);
	free(t);
}

int two_setup(void **state)
{
	*state = two_open(false, 0);
	return 0;
}

int two_teardown(void **state)
{
	two_close(*state);
	return 0;
}

struct hp3x_completion side_wait(struct side *s, int64_t op)
{
	uint64_t until = deadline_in(PATIENCE);
	struct two *t = two_of(s);
	struct hp3x_completion c;

	if (op <= 0)
		fail_msg("submission: %s", hp3x_error());
	while (hp3x_poll(s->domain, &c, 1) == 0) {
		if (hp3_clock_ns(CLOCK_MONOTONIC) > until)
			fail_msg("op %lld has not ended", (long long)op);
		two_wait(t);
	}
	assert_int_equal(c.op, op);
	return c;
}

int side_receive(struct side *s, void *data, size_t capacity)
{
	uint64_t until = deadline_in(PATIENCE);
	struct hp3x_peer *from;
	int n;

	while ((n = hp3x_receive(s->domain, data, capacity, &from)) == -EAGAIN) {
		assert_true(hp3_clock_ns(CLOCK_MONOTONIC) < until);
		two_wait(two_of(s));
	}
	assert_ptr_equal(from, s->peer);
	return n;
}

int loopback_listen(char text[32])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &length), 0);
	snprintf(text, 32, "127.0.0.1:%u", ntohs(a.sin_port));
	return fd;
}
