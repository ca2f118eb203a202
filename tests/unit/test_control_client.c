/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a client of the control socket: their order, their bounds, clients that do not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/control/client.h"
#include "app/control/reply.h"

struct fixture {
	struct hp3d_client client;
	int peer;
	unsigned asked; /* requests answered */
	size_t fill; /* bytes that each answer carries */
};

/* Echoes the request as a string, with `fill` bytes beside it. */
static json_t *echo(void *arg, const char *line, size_t len)
{
	struct fixture *f = arg;
	char *fill = calloc(1, f->fill + 1);

	assert_non_null(fill);
	memset(fill, 'x', f->fill);
	json_t *j = hp3d_json_ok(
		json_pack("{s:o, s:s}", "line", json_stringn(line, len), "fill", fill));
	free(fill);
	f->asked++;
	return j;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int pair[2];

	assert_non_null(f);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(hp3d_client_open(&f->client, pair[0], 1), 0);
	f->peer = pair[1];
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	hp3d_client_close(&f->client);
	if (f->peer >= 0)
		close(f->peer);
	free(f);
	return 0;
}

static bool serve(struct fixture *f, uint64_t now_ms)
{
	return hp3d_client_service(&f->client, POLLIN, now_ms, echo, f);
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(send(f->peer, text, strlen(text), 0), strlen(text));
}

static size_t hear(struct fixture *f, char *buf, size_t cap)
{
	ssize_t n = recv(f->peer, buf, cap - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void lines_are_answered_in_order_however_they_are_cut(void **state)
{
	struct fixture *f = *state;
	char buf[512];

	say(f, "on");
	assert_true(serve(f, 1));
	assert_int_equal(hear(f, buf, sizeof(buf)), 0);
	say(f, "e\n\ntwo\nthr");
	assert_true(serve(f, 1));
	hear(f, buf, sizeof(buf));
	assert_string_equal(buf,
		"{\"v\":1,\"ok\":true,\"data\":{\"line\":\"one\",\"fill\":\"\"}}\n"
		"{\"v\":1,\"ok\":true,\"data\":{\"line\":\"two\",\"fill\":\"\"}}\n");
	assert_int_equal(f->asked, 2);
	say(f, "ee\n");
	assert_true(serve(f, 1));
	hear(f, buf, sizeof(buf));
	assert_non_null(strstr(buf, "\"three\""));
}

static void the_last_requests_of_a_closing_peer_are_answered(void **state)
{
	struct fixture *f = *state;
	char buf[512];

	say(f, "one\nhalf a li");
	assert_int_equal(shutdown(f->peer, SHUT_WR), 0);
	assert_true(serve(f, 1));
	assert_false(serve(f, 1)); /* sees the end: nothing is left to do */
	hear(f, buf, sizeof(buf));
	assert_non_null(strstr(buf, "\"one\""));
	assert_int_equal(f->asked, 1);
}

static void a_gone_peer_ends_the_connection(void **state)
{
	struct fixture *f = *state;

	say(f, "one\n");
	close(f->peer);
	f->peer = -1;
	assert_false(serve(f, 1));
}

static void an_overlong_line_is_answered_and_ends_the_connection(void **state)
{
	struct fixture *f = *state;
	char chunk[8192], buf[512];
	bool open = true;

	memset(chunk, 'a', sizeof(chunk));
	for (size_t sent = 0; open && sent < 2 * HP3D_LINE_MAX; sent += sizeof(chunk)) {
		assert_int_equal(send(f->peer, chunk, sizeof(chunk), 0), sizeof(chunk));
		open = serve(f, 1);
	}
	assert_false(open);
	hear(f, buf, sizeof(buf));
	assert_non_null(strstr(buf, "\"ok\":false"));
	assert_non_null(strstr(buf, "longer than 65536"));
	assert_int_equal(f->asked, 0);
}

static void the_longest_line_is_taken(void **state)
{
	struct fixture *f = *state;
	char *line = malloc(HP3D_LINE_MAX);

	memset(line, 'a', HP3D_LINE_MAX - 1);
	line[HP3D_LINE_MAX - 1] = '\n';
	for (size_t sent = 0; sent < HP3D_LINE_MAX; sent += 8192) {
		assert_int_equal(send(f->peer, line + sent, 8192, 0), 8192);
		assert_true(serve(f, 1));
	}
	free(line);
	assert_int_equal(f->asked, 1);
}

static void who_does_not_read_gets_no_more_and_is_cut_off(void **state)
{
	struct fixture *f = *state;
	unsigned calls, asked;

	f->fill = 10000;
	for (calls = 0; calls < 1000 && (calls < 2 || hp3d_client_wants(&f->client) & POLLIN);
		calls++) {
		say(f, "more\n");
		assert_true(serve(f, 1));
	}
	/* Output is bounded: one answer above the mark at most. */
	assert_true(f->client.out_len - f->client.out_off < HP3D_OUT_HIGH + f->fill + 100);
	assert_int_equal(hp3d_client_wants(&f->client), POLLOUT);
	say(f, "more\n");
	asked = f->asked;
	assert_true(serve(f, 1));
	assert_int_equal(f->asked, asked);
	assert_true(serve(f, HP3D_STALL_MS));
	assert_false(serve(f, HP3D_STALL_MS + 1));
}

static void who_reads_again_goes_on(void **state)
{
	struct fixture *f = *state;
	static char buf[1 << 20];
	size_t lines = 0, n;

	f->fill = 10000;
	for (int i = 0; i < 100; i++)
		say(f, "more\n");
	for (uint64_t now = 1; now < 20000; now += HP3D_STALL_MS / 4) {
		assert_true(serve(f, now));
		do {
			n = hear(f, buf, sizeof(buf));
			for (size_t i = 0; i < n; i++)
				lines += buf[i] == '\n';
		} while (n && serve(f, now));
	}
	assert_int_equal(lines, 100);
	assert_int_equal(f->asked, 100);
}

static void one_client_gets_a_bounded_share(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < 3 * HP3D_LINES_PER_CALL; i++)
		say(f, "x\n");
	assert_true(serve(f, 1));
	assert_int_equal(f->asked, HP3D_LINES_PER_CALL);
	assert_true(hp3d_client_ready(&f->client)); /* so that poll does not sleep */
}

#define WITH_CLIENT(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_CLIENT(lines_are_answered_in_order_however_they_are_cut),
		WITH_CLIENT(the_last_requests_of_a_closing_peer_are_answered),
		WITH_CLIENT(a_gone_peer_ends_the_connection),
		WITH_CLIENT(an_overlong_line_is_answered_and_ends_the_connection),
		WITH_CLIENT(the_longest_line_is_taken),
		WITH_CLIENT(who_does_not_read_gets_no_more_and_is_cut_off),
		WITH_CLIENT(who_reads_again_goes_on),
		WITH_CLIENT(one_client_gets_a_bounded_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
