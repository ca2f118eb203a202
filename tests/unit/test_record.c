/* SPDX-License-Identifier: BSD-3-Clause */
/* Records: complete lines in the audit log for any disk errors, bounds, and no thread that waits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/record/audit.h"
#include "app/record/record.h"

static char dir[] = "/tmp/hp3-record-XXXXXX", path[64], other[64];

static int make_directory(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/audit.log", dir);
	snprintf(other, sizeof(other), "%s/audit.log.1", dir);
	return 0;
}

static int remove_directory(void **state)
{
	unlink(path);
	unlink(other);
	return rmdir(dir);
}

static int begin(void **state)
{
	unlink(path);
	unlink(other);
	return 0;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Waits until so many lines are in the log. */
static void wait_written(uint64_t lines)
{
	double end = seconds() + 20;

	while (hp3_record_stats().written < lines && seconds() < end)
		usleep(1000);
	assert_int_equal(hp3_record_stats().written, lines);
}

/* The log as an array: every line is JSON, and the last one is whole. */
static json_t *lines_of(const char *file)
{
	json_t *list = json_array();
	char line[4096];
	FILE *f = fopen(file, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		json_t *j = json_loads(line, 0, NULL);

		assert_non_null(j);
		assert_int_equal(line[strlen(line) - 1], '\n');
		json_array_append_new(list, j);
	}
	fclose(f);
	return list;
}

static void start(const char *audit, uint32_t per_second)
{
	struct hp3_record_options o = {.audit = audit, .per_second = per_second};

	assert_int_equal(hp3_record_start(&o), 0);
}

static void wall_time_is_rfc_3339(void **state)
{
	char text[HP3_WALL_TEXT];

	hp3_wall_text(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000000Z");
	hp3_wall_text(951827696000001999ull, text); /* of a leap year */
	assert_string_equal(text, "2000-02-29T12:34:56.000001Z");
	hp3_wall_text(hp3_clock_ns(CLOCK_REALTIME), text);
	assert_int_equal(strlen(text), 27);
}

static void a_record_is_a_line(void **state)
{
	char *text;
	json_t *list;

	hp3_record(HP3_RECORD_QUIET, "early", NULL, "before start: nothing");
	start(path, 100);
	hp3_record(HP3_RECORD_QUIET, "ready", json_pack("{s:i}", "pid", 7), "ready");
	hp3_record(HP3_RECORD_QUIET, "switch",
		json_pack("{s:s, s:s}", "time", "then", "type", "idle_switch"), "moved");
	hp3_record_stop();
	hp3_record(HP3_RECORD_QUIET, "late", NULL, "after stop: nothing");
	list = lines_of(path);
	assert_int_equal(json_array_size(list), 2);
	json_object_set_new(json_array_get(list, 0), "time", json_string("now"));
	text = json_dumps(list, JSON_COMPACT);
	assert_string_equal(text, "[{\"v\":1,\"time\":\"now\",\"type\":\"ready\",\"pid\":7},"
				  "{\"v\":1,\"time\":\"then\",\"type\":\"idle_switch\"}]");
	free(text);
	json_decref(list);
	start(path, 100); /* appended to */
	hp3_record(HP3_RECORD_QUIET, "ready", NULL, "ready");
	hp3_record_stop();
	list = lines_of(path);
	assert_int_equal(json_array_size(list), 3);
	json_decref(list);
}

static void what_is_no_file_is_refused(void **state)
{
	struct hp3_audit a;

	assert_int_equal(hp3_audit_open(&a, "/nonexistent/audit.log"), -ENOENT);
	assert_int_equal(hp3_audit_open(&a, dir), -EISDIR);
	assert_int_equal(hp3_audit_open(&a, "/dev/null"), -EINVAL);
	assert_int_equal(mkfifo(path, 0600), 0); /* without a reader: must not wait */
	assert_int_equal(hp3_audit_open(&a, path), -EINVAL);
}

static void rotation(void **state)
{
	struct hp3_record_options o = {.audit = path, .per_second = 100};
	json_t *list;

	start(path, 100);
	hp3_record(HP3_RECORD_QUIET, "first", NULL, "x");
	wait_written(1);
	assert_int_equal(rename(path, other), 0);
	hp3_record(HP3_RECORD_QUIET, "second", NULL, "x"); /* still to the old one */
	wait_written(2);
	hp3_record_reopen(&o);
	hp3_record(HP3_RECORD_QUIET, "third", NULL, "x");
	hp3_record_stop();
	list = lines_of(other);
	assert_int_equal(json_array_size(list), 2);
	json_decref(list);
	list = lines_of(path);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
}

static void limit(rlim_t bytes)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* The limit cuts a write in the middle, as a full disk does. */
static void a_full_disk_leaves_whole_lines(void **state)
{
	uint64_t before;
	struct stat st;
	json_t *list, *last;

	signal(SIGXFSZ, SIG_IGN);
	start(path, 100);
	hp3_record(HP3_RECORD_QUIET, "fits", NULL, "x");
	wait_written(1);
	assert_int_equal(stat(path, &st), 0);
	limit((rlim_t)st.st_size + 10);
	for (int i = 0; i < 5; i++)
		hp3_record(HP3_RECORD_QUIET, "does not fit", NULL, "x");
	for (double end = seconds() + 20; hp3_record_stats().lost_disk < 5 && seconds() < end;)
		usleep(1000);
	assert_int_equal(hp3_record_stats().lost_disk, 5);
	assert_true(hp3_record_stats().error < 0);
	before = (uint64_t)st.st_size;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, before); /* no half line */
	limit(RLIM_INFINITY);
	hp3_record(HP3_RECORD_QUIET, "again", NULL, "x");
	wait_written(2);
	assert_int_equal(hp3_record_stats().error, 0);
	hp3_record(HP3_RECORD_QUIET, "and again", NULL, "x");
	hp3_record_stop();
	list = lines_of(path);
	assert_int_equal(json_array_size(list), 4); /* fits, again, lost, and again */
	last = json_array_get(list, 2);
	assert_string_equal(json_string_value(json_object_get(last, "type")), "lost");
	assert_int_equal(json_integer_value(json_object_get(last, "records")), 5);
	json_decref(list);
}

static void too_many_are_counted(void **state)
{
	uint64_t many = 0, told = 0, lost;
	json_t *list, *line;
	size_t i;

	start(path, 1);
	for (int n = 0; n < 100; n++)
		hp3_record(HP3_RECORD_QUIET, "many", NULL, "x");
	lost = hp3_record_stats().lost_rate;
	hp3_record_stop();
	assert_in_range(lost, 80, 90); /* ten seconds' worth is taken, more on a slow machine */
	list = lines_of(path);
	json_array_foreach (list, i, line) {
		many += strcmp(json_string_value(json_object_get(line, "type")), "many") == 0;
		told += (uint64_t)json_integer_value(json_object_get(line, "records"));
	}
	assert_int_equal(many, 100 - lost);
	assert_true(told <= lost); /* those lost after the latest one was taken out are not told */
	json_decref(list);
}

/* Nobody reads stderr, so the thread hangs; who records does not. */
static void who_records_waits_for_nobody(void **state)
{
	static char bytes[65536];
	int ends[2], before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
	bool dropped;
	double t;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	while (write(ends[1], bytes, 4096) > 0)
		;
	assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
	fflush(stderr);
	dup2(ends[1], STDERR_FILENO);
	start(path, 10000);
	t = seconds();
	for (int i = 0; i < 5000; i++)
		hp3_record(LOG_INFO, "many", NULL, "nobody reads this");
	t = seconds() - t;
	dropped = hp3_record_stats().lost_queue >= 5000 - 1024 - 1;
	/* Somebody reads again: the thread goes on and ends. */
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	dup2(nowhere, STDERR_FILENO);
	close(ends[1]);
	while (read(ends[0], bytes, sizeof(bytes)) > 0)
		usleep(1000);
	hp3_record_stop();
	dup2(before, STDERR_FILENO);
	close(ends[0]);
	close(before);
	close(nowhere);
	assert_true(dropped);
	assert_true(t < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wall_time_is_rfc_3339),
		cmocka_unit_test_setup(a_record_is_a_line, begin),
		cmocka_unit_test_setup(what_is_no_file_is_refused, begin),
		cmocka_unit_test_setup(rotation, begin),
		cmocka_unit_test_setup(a_full_disk_leaves_whole_lines, begin),
		cmocka_unit_test_setup(too_many_are_counted, begin),
		cmocka_unit_test_setup(who_records_waits_for_nobody, begin),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
