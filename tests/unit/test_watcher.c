/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the watcher's process to hp3d, from the real one and from an impostor (fake_watch.c).
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "app/watch/watcher.h"

#define SECONDS 30

static struct {
	unsigned events, notices;
	struct hp3_watch_event last;
	char text[1024]; /* of the first notice */
} said;

static void on_event(void *ctx, const struct hp3_watch_event *event)
{
	said.events++;
	said.last = *event;
}

static void on_notice(void *ctx, const char *text)
{
	if (said.notices++ == 0)
		snprintf(said.text, sizeof(said.text), "%s", text);
}

static struct hp3_watcher *begin_as(const char *what, uint8_t verbs)
{
	struct hp3_watch_options o = {
		.verbs = verbs, .libraries = what, .event = on_event, .notice = on_notice};
	struct hp3_watcher *w;

	memset(&said, 0, sizeof(said));
	alarm(SECONDS);
	assert_int_equal(hp3_watcher_start(&o, &w), 0);
	return w;
}

static struct hp3_watcher *begin(const char *what)
{
	return begin_as(what, HP3_WATCH_LIBRARY);
}

static void poll_once(struct hp3_watcher *w)
{
	struct pollfd p = {.fd = hp3_watcher_fd(w), .events = POLLIN};

	poll(&p, 1, 1000);
	hp3_watcher_poll(w);
}

static void what_is_no_message(void **state)
{
	struct hp3_watcher *w = begin("noise");

	assert_int_equal(hp3_watcher_wait(w), 0);
	assert_int_equal(hp3_watcher_by(w), HP3_BY_LIBRARY);
	while (said.events == 0)
		poll_once(w);
	assert_int_equal(said.events, 1);
	assert_int_equal(said.last.qp.lqpn, 7);
	assert_int_equal(said.last.qp.vlan, HP3_VLAN_MAX);
	assert_string_equal(said.last.device, "?[2J");
	assert_int_equal(said.notices, 1);
	assert_non_null(strstr(said.text, "cannot be understood"));
	assert_int_equal(hp3_watcher_ends(w), 0);
	hp3_watcher_stop(w);
}

static void more_notices_than_anybody_reads(void **state)
{
	struct hp3_watcher *w = begin("notices");

	assert_int_equal(hp3_watcher_wait(w), 0);
	for (unsigned i = 0; i < 20; i++)
		poll_once(w);
	assert_in_range(said.notices, 20, 33);
	assert_string_equal(said.text, "?[2Jhello");
	hp3_watcher_stop(w);
}

/* The control thread has other things to do. */
static void events_without_end(void **state)
{
	struct hp3_watcher *w = begin("events");

	assert_int_equal(hp3_watcher_wait(w), 0);
	for (unsigned i = 0; i < 20; i++) {
		said.events = 0;
		poll_once(w);
		assert_in_range(said.events, 1, 256);
	}
	hp3_watcher_stop(w);
}

/* The kernel's word counts more: who has read what processes say is not believed to be the
 * kernel's. */
static void who_speaks_for_processes_does_so_for_good(void **state)
{
	struct hp3_watcher *w = begin("claims");

	assert_int_equal(hp3_watcher_wait(w), 0);
	assert_int_equal(hp3_watcher_by(w), HP3_BY_LIBRARY);
	hp3_watcher_stop(w);
	w = begin_as("claims", HP3_WATCH_AUTO);
	assert_int_equal(hp3_watcher_wait(w), 0);
	assert_int_equal(hp3_watcher_by(w), HP3_BY_KERNEL);
	while (said.events == 0)
		poll_once(w);
	assert_int_equal(hp3_watcher_ends(w), 1);
	assert_int_equal(hp3_watcher_by(w), HP3_BY_LIBRARY);
	hp3_watcher_stop(w);
}

static void nobody_watches(void **state)
{
	struct hp3_watcher *w = begin("nobody");

	assert_int_equal(hp3_watcher_wait(w), -ENOENT);
	assert_int_equal(hp3_watcher_fd(w), -1);
	assert_int_equal(said.notices, 0);
	hp3_watcher_poll(w);
	hp3_watcher_stop(w);
}

static void gone_for_good(void **state)
{
	struct hp3_watcher *w = begin("goes");

	assert_int_equal(hp3_watcher_wait(w), 0);
	while (hp3_watcher_fd(w) >= 0)
		poll_once(w);
	assert_int_equal(hp3_watcher_by(w), HP3_BY_NONE);
	assert_int_equal(said.notices, 1);
	assert_non_null(strstr(said.text, "not watched any more"));
	hp3_watcher_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_message),
		cmocka_unit_test(more_notices_than_anybody_reads),
		cmocka_unit_test(events_without_end),
		cmocka_unit_test(who_speaks_for_processes_does_so_for_good),
		cmocka_unit_test(nobody_watches),
		cmocka_unit_test(gone_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
