/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket's lines, bounds and ownership, and the kept events; the requests themselves
 * need lcores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "app/hp3d/control_socket.h"
#include "app/hp3d/events.h"
#include "app/hp3d/json_client.h"
#include "app/hp3d/json_request.h"

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
	assert_int_equal(hp3d_client_open(&f->client, pair[0]), 0);
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

static void answers_say_what_went_wrong(void **state)
{
	json_t *j = hp3d_json_error("not-found", "look elsewhere", "no flow %s", "\xc3\xa4");
	char *text = json_dumps(j, JSON_COMPACT);

	assert_string_equal(text,
		"{\"v\":1,\"ok\":false,\"error\":{\"code\":\"not-found\",\"text\":"
		"\"no flow \xc3\xa4\",\"fix\":\"look elsewhere\"}}");
	free(text);
	json_decref(j);
	assert_null(hp3d_json_ok(NULL));
}

static void numbers_are_checked(void **state)
{
	static const char *const bad[] = {"{\"n\":0}", "{\"n\":11}", "{\"n\":-1}", "{\"n\":\"5\"}",
		"{\"n\":5.0}", "{\"n\":null}", "{\"n\":[5]}"};
	uint64_t n = 7;
	json_t *error, *req = json_loads("{\"n\":5}", 0, NULL);

	assert_true(hp3d_json_number(req, "other", 1, 10, &n, &error));
	assert_int_equal(n, 7);
	assert_true(hp3d_json_number(req, "n", 1, 10, &n, &error));
	assert_int_equal(n, 5);
	json_decref(req);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		req = json_loads(bad[i], 0, NULL);
		assert_false(hp3d_json_number(req, "n", 1, 10, &n, &error));
		assert_int_equal(n, 5);
		assert_string_equal(
			json_string_value(json_object_get(json_object_get(error, "error"), "text")),
			"\"n\" must be an integer from 1 to 10");
		json_decref(error);
		json_decref(req);
	}
}

static struct hp3_config small_config(void)
{
	struct hp3_config cfg = {.control.events_kept = 16, .n_rails = 1};

	strcpy(cfg.rails[0].name, "rail0");
	return cfg;
}

static void events_are_numbered_and_the_latest_kept(void **state)
{
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg), 0);
	list = hp3d_events_page(0, 100, &next);
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(next, 0);
	json_decref(list);
	for (uint64_t i = 1; i <= 40; i++) {
		struct hp3d_event ev = {.ev.type = HP3_EV_SWITCH, .ev.tag = i};
		hp3d_events_add(&ev);
	}
	assert_int_equal(hp3d_events_last(), 40);
	list = hp3d_events_page(0, 5, &next);
	assert_int_equal(json_array_size(list), 5);
	assert_int_equal(next, 29);
	for (size_t i = 0; i < 5; i++) {
		json_t *ev = json_array_get(list, i);
		assert_int_equal(json_integer_value(json_object_get(ev, "seq")), 25 + i);
		assert_int_equal(json_integer_value(json_object_get(ev, "tag")), 25 + i);
	}
	json_decref(list);
	list = hp3d_events_page(next, 100, &next);
	assert_int_equal(json_array_size(list), 11);
	assert_int_equal(next, 40);
	json_decref(list);
	list = hp3d_events_page(1000, 100, &next); /* from an hp3d that ran before */
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(next, 40);
	json_decref(list);
	hp3d_events_free();
}

static void an_event_carries_its_evidence(void **state)
{
	struct hp3_config cfg = small_config();
	struct hp3d_event ev = {
		.ev = {.t_ns = 5,
			.type = HP3_EV_RECOVER,
			.cause = HP3_CAUSE_OPERATOR,
			.reason = HP3_RFR_IN_NAK,
			.from = 50000,
			.to = 50001,
			.wait_ns = 6,
			.drain_ns = 7,
			.close_psn = 8,
			.held_pkts = 9,
			.held_bytes = 10,
			.tag = 11},
		.flow = {.local = {10, 9, 0, 1},
			.remote = {10, 9, 0, 2},
			.rqpn = 0x1c,
			.lqpn = 0x11},
	};
	uint64_t next;
	json_t *list;
	char *text;

	assert_int_equal(hp3d_events_init(&cfg), 0);
	hp3d_events_add(&ev);
	ev.ev.type = HP3_EV_PAIR;
	ev.ev.pairing = HP3_PAIRING_CM;
	ev.ev.lqpn = 0x11;
	ev.ev.tag = 0;
	hp3d_events_add(&ev);
	list = hp3d_events_page(0, 2, &next);
	text = json_dumps(json_array_get(list, 0), JSON_COMPACT);
	assert_string_equal(text,
		"{\"v\":1,\"seq\":1,\"t_ns\":5,\"flow\":\"rail0/10.9.0.1-10.9.0.2/0x00001c\","
		"\"type\":\"recover\",\"cause\":\"operator\",\"from\":50000,\"to\":50001,"
		"\"reason\":\"nak\",\"evidence\":{\"drain_ns\":7,\"held_pkts\":9,\"held_bytes\":10,"
		"\"wait_ns\":6,\"close_psn\":8},\"outcome\":\"kept\",\"tag\":11}");
	free(text);
	text = json_dumps(json_array_get(list, 1), JSON_COMPACT);
	assert_string_equal(text,
		"{\"v\":1,\"seq\":2,\"t_ns\":5,\"flow\":\"rail0/10.9.0.1-10.9.0.2/0x00001c\","
		"\"type\":\"pair\",\"evidence\":{\"by\":\"cm\",\"local_qpn\":17},"
		"\"outcome\":\"paired\"}");
	free(text);
	json_decref(list);
	hp3d_events_free();
}

/* A path in a directory of our own below /tmp. */
static void in_directory(char *path, size_t cap, const char *name)
{
	static unsigned n;
	int len = snprintf(path, cap, "/tmp/hp3-control-%d-%u", getpid(), ++n);

	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path + len, cap - (size_t)len, "/%s", name);
}

static void remove_directory(const char *path)
{
	char dir[108];

	unlink(path);
	snprintf(dir, sizeof(dir), "%s", path);
	for (char *end; (end = strrchr(dir, '/')) && end - dir > 4;) {
		*end = '\0';
		assert_int_equal(rmdir(dir), 0); /* nothing was left behind */
	}
}

static void the_socket_is_ours_alone(void **state)
{
	struct hp3d_control_socket s, second;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "a/b/hp3.sock");
	assert_int_equal(hp3d_control_listen(&s, path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A second one is refused and leaves the first alone. */
	assert_int_equal(hp3d_control_listen(&second, path), -EADDRINUSE);
	hp3d_control_unlisten(&second);
	assert_int_equal(stat(path, &st), 0);
	hp3d_control_unlisten(&s);
	assert_int_equal(stat(path, &st), -1);
	hp3d_control_unlisten(&s);
	remove_directory(path);
}

static void a_stale_socket_is_replaced_another_file_is_not(void **state)
{
	struct hp3d_control_socket s, old;
	char path[108];
	struct stat st;

	in_directory(path, sizeof(path), "hp3.sock");
	assert_int_equal(hp3d_control_listen(&old, path), 0);
	close(old.fd); /* as a killed process leaves it */
	assert_int_equal(hp3d_control_listen(&s, path), 0);
	/* The old one's clean-up, were it to come late, must not take the new socket away. */
	old.fd = dup(s.fd);
	hp3d_control_unlisten(&old);
	assert_int_equal(stat(path, &st), 0);
	hp3d_control_unlisten(&s);

	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_int_equal(hp3d_control_listen(&s, path), -EEXIST);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(hp3d_control_listen(&s, "/proc/hp3/hp3.sock"), -ENOENT);
	remove_directory(path);
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
		cmocka_unit_test(answers_say_what_went_wrong),
		cmocka_unit_test(numbers_are_checked),
		cmocka_unit_test(events_are_numbered_and_the_latest_kept),
		cmocka_unit_test(an_event_carries_its_evidence),
		cmocka_unit_test(the_socket_is_ours_alone),
		cmocka_unit_test(a_stale_socket_is_replaced_another_file_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
