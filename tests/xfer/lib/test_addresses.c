/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control channel over several addresses: if one is silent, the dialler takes another one that
 * the peer has named. An address that leads to another domain does no harm.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "two_domains.h"
#include "xfer/lib/frame.h"

#define TIMEOUT_MS 3000u

static uint16_t port_of(const char *address)
{
	return htons((uint16_t)atoi(strrchr(address, ':') + 1));
}

static struct hp3x_domain *domain_open(const char *listen)
{
	const char *rails[] = {"127.0.0.1", "127.0.0.2"};
	struct hp3x_options o = {.provider = "tcp",
		.rails = rails,
		.n_rails = 2,
		.listen = listen,
		.peer_timeout_ms = TIMEOUT_MS};
	struct hp3x_domain *d;

	if (hp3x_open(&o, &d) < 0)
		fail_msg("hp3x_open: %s", hp3x_error());
	return d;
}

/* The next connection to the listener; its hello is read. */
static int dialler_take(int listener, struct hp3x_hello *hello)
{
	struct pollfd p = {listener, POLLIN, 0};
	struct hp3x_frame frame;
	int fd;

	assert_int_equal(poll(&p, 1, (int)(PATIENCE / 1000000)), 1);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(recv(fd, &frame, sizeof(frame), MSG_WAITALL), sizeof(frame));
	assert_int_equal(recv(fd, hello, sizeof(*hello), MSG_WAITALL), sizeof(*hello));
	return fd;
}

static void hello_send(int fd, const struct hp3x_hello *hello)
{
	struct hp3x_frame frame = {.length = htole32(sizeof(*hello)), .kind = HP3X_FRAME_HELLO};

	assert_int_equal(send(fd, &frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
	assert_int_equal(send(fd, hello, sizeof(*hello), MSG_NOSIGNAL), sizeof(*hello));
}

static void state_wait(struct hp3x_peer *p, enum hp3x_peer_state state)
{
	for (uint64_t until = deadline_in(PATIENCE); hp3x_peer_state(p) != state; usleep(1000))
		assert_true(deadline_in(0) < until);
}

/* Carries bytes between two connections until `n` of them went to `out`. */
static void bytes_carry(int in, int out, size_t n)
{
	while (n > 0) {
		struct pollfd p[2] = {{in, POLLIN, 0}, {out, POLLIN, 0}};
		uint8_t bytes[512];
		ssize_t got;

		assert_true(poll(p, 2, (int)(PATIENCE / 1000000)) > 0);
		if (p[1].revents != 0) {
			got = recv(out, bytes, sizeof(bytes), 0);
			assert_true(got > 0 && send(in, bytes, (size_t)got, MSG_NOSIGNAL) == got);
		}
		if (p[0].revents == 0)
			continue;
		got = recv(in, bytes, n < sizeof(bytes) ? n : sizeof(bytes), 0);
		assert_true(got > 0 && send(out, bytes, (size_t)got, MSG_NOSIGNAL) == got);
		n -= (size_t)got;
	}
}

/* Like a network that is cut: bytes wait, and no connection is refused. */
static void a_silent_address_is_left(void **state)
{
	struct hp3x_domain *a = domain_open("127.0.0.1:0"), *b = domain_open(NULL);
	char address[32], data[8];
	int listener = loopback_listen(address), in, out;
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = port_of(hp3x_address(b))};
	struct pollfd p = {listener, POLLIN, 0};
	struct hp3x_completion done;
	struct hp3x_peer *peer, *from;
	int64_t op;

	assert_int_equal(hp3x_connect(a, address, &peer), 0);
	assert_int_equal(poll(&p, 1, (int)(PATIENCE / 1000000)), 1);
	in = accept(listener, NULL, NULL);
	out = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(out, (struct sockaddr *)&to, sizeof(to)), 0);
	bytes_carry(in, out, sizeof(struct hp3x_frame) + sizeof(struct hp3x_hello));
	while (hp3x_peer_state(peer) != HP3X_PEER_UP)
		bytes_carry(in, out, 1);
	op = hp3x_send(peer, "message", 8, NULL);
	assert_true(op > 0);
	for (uint64_t until = deadline_in(PATIENCE); hp3x_poll(a, &done, 1) == 0; usleep(1000))
		assert_true(deadline_in(0) < until);
	assert_int_equal(done.op, op);
	if (done.status != HP3X_OK)
		fail_msg("%s: %s", hp3x_status_name(done.status), hp3x_peer_reason(peer));
	assert_int_equal(hp3x_receive(b, data, sizeof(data), &from), 8);
	assert_string_equal(data, "message");
	assert_int_equal(hp3x_peer_state(peer), HP3X_PEER_UP);
	close(in);
	close(out);
	close(listener);
	hp3x_close(a);
	hp3x_close(b);
}

/* The peer's second address is that of another domain, which refuses the session. */
static void another_domain_at_an_address_does_no_harm(void **state)
{
	struct hp3x_domain *a = domain_open("127.0.0.1:0"), *other = domain_open("127.0.0.1:0");
	struct hp3x_hello hello;
	struct hp3x_peer *peer;
	char address[32];
	int listener = loopback_listen(address), first, second;

	assert_int_equal(hp3x_connect(a, address, &peer), 0);
	first = dialler_take(listener, &hello);
	hello.identity ^= 1;
	hello.n_addresses = htole32(1);
	hello.port = port_of(hp3x_address(other));
	memset(hello.address, 0, sizeof(hello.address));
	memcpy(hello.address[0], "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	hello_send(first, &hello);
	state_wait(peer, HP3X_PEER_UP);
	/* Silence. The other domain refuses; then the first address has its turn again. */
	second = dialler_take(listener, &hello);
	assert_int_equal(hello.again, htole32(1));
	assert_int_equal(hp3x_peer_state(peer), HP3X_PEER_UP);
	close(first);
	close(second);
	close(listener);
	hp3x_close(a);
	hp3x_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_address_is_left),
		cmocka_unit_test(another_domain_at_an_address_does_no_harm),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
