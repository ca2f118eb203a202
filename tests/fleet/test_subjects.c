/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-fleet's planner on a server that passes any subjects and reply subjects; its metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>
#include "app/fleet/answer.h"
#include "app/fleet/planner.h"
#include "app/fleet/process.h"
#include "reports.h"

#define PAGE 4096u

static struct {
	const char *subject;
	hp3_bus_fn *fn;
	void *arg;
} subscribed[8];
static unsigned n_subscribed, published;
static bool up;
static char keepalive_from[HP3_FLEET_NAME]; /* the planner that said it last */
static void (*meanwhile)(void); /* what comes while it runs, once */

struct hp3_bus *fleet_bus_open(const struct fleet_config *cfg)
{
	return (struct hp3_bus *)&up;
}

void hp3_bus_close(struct hp3_bus *b)
{
}

bool hp3_bus_is_up(const struct hp3_bus *b)
{
	return up;
}

bool hp3_bus_is_refused(const struct hp3_bus *b)
{
	return false;
}

int hp3_bus_subscribe(
	struct hp3_bus *b, const char *subject, const char *group, hp3_bus_fn *fn, void *arg)
{
	subscribed[n_subscribed].subject = subject;
	subscribed[n_subscribed].fn = fn;
	subscribed[n_subscribed++].arg = arg;
	return 0;
}

int hp3_bus_publish(struct hp3_bus *b, const char *subject, const void *data, size_t len)
{
	struct hp3_fleet_keepalive keepalive;

	if (strcmp(subject, FLEET_SUBJECT_KEEPALIVE) == 0) {
		*keepalive_from = '\0';
		if (hp3_fleet_keepalive_decode(data, len, &keepalive) == 0)
			memcpy(keepalive_from, keepalive.planner, sizeof(keepalive_from));
	} else {
		published++;
	}
	return 0;
}

uint64_t hp3_bus_dropped(const struct hp3_bus *b)
{
	return 7;
}

FILE *__real_open_memstream(char **text, size_t *len);
FILE *__wrap_open_memstream(char **text, size_t *len);
static bool loses_bytes;

/* Loses bytes, and has no error at its end: as glibc's, without memory. */
FILE *__wrap_open_memstream(char **text, size_t *len)
{
	FILE *f;

	if (!loses_bytes)
		return __real_open_memstream(text, len);
	f = fopen("/dev/full", "w");
	setvbuf(f, NULL, _IONBF, 0);
	*text = strdup("");
	return f;
}

void fleet_ends_by_signals(void)
{
}

/* After what happens meanwhile it goes on for one round. */
bool fleet_is_over(const struct hp3_bus *bus)
{
	static unsigned rounds;

	if (meanwhile != NULL)
		meanwhile();
	meanwhile = NULL;
	rounds = (rounds + 1) % 4;
	return rounds == 0;
}

uint64_t fleet_clock_us(clockid_t id)
{
	static uint64_t us = 1000000;

	return us += 1000000;
}

int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg)
{
	return FLEET_DONE;
}

int fleet_http_start(struct fleet_planner *p)
{
	return 0;
}

void fleet_http_stop(void)
{
}

static void run(void (*what)(void))
{
	static struct fleet_config cfg = {
		.fleet = {.name = "p0", .keepalive_ms = 1, .takeover_ms = 1},
		.plan = {.interval_ms = 1}};

	cfg.p = small_fleet();
	n_subscribed = published = 0;
	meanwhile = what;
	assert_int_equal(fleet_run(&cfg), FLEET_DONE);
}

static void come(const char *on, const char *subject, const char *reply, const void *data, size_t n)
{
	for (unsigned i = 0; i < n_subscribed; i++)
		if (strcmp(subscribed[i].subject, on) == 0)
			subscribed[i].fn(subscribed[i].arg, subject, reply, data, n);
}

/* Behind it nothing can be read. */
static char *at_the_end_of_memory(const char *text)
{
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(mprotect(at + PAGE, PAGE, PROT_NONE), 0);
	return strcpy(at + PAGE - strlen(text) - 1, text);
}

static void a_report_on_a_short_subject(void)
{
	static uint8_t bytes[HP3_FLEET_BYTES];
	static struct hp3_fleet_report r;
	size_t n;

	r = host_report(1, 1, 2);
	n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
	assert_true(n > 0);
	come(FLEET_SUBJECT_REPORTS, at_the_end_of_memory("x"), NULL, bytes, n);
}

static void subjects_shorter_than_the_prefix(void **state)
{
	up = true;
	run(a_report_on_a_short_subject);
}

/* Of h1, on the subject of another host, and then on its own. */
static void reports_of_a_host(void)
{
	static const char *const subjects[] = {"hp3.report.h2", "hp3.report.h1"};
	static uint8_t bytes[HP3_FLEET_BYTES];
	static struct hp3_fleet_report r;
	struct fleet_planner *p = NULL;

	for (unsigned i = 0; i < n_subscribed; i++)
		if (strcmp(subscribed[i].subject, FLEET_SUBJECT_REPORTS) == 0)
			p = subscribed[i].arg;
	assert_non_null(p);
	for (unsigned i = 0; i < 2; i++) {
		size_t n;

		r = host_report(1, 1, 2);
		n = hp3_fleet_report_encode(&r, bytes, sizeof(bytes));
		come(FLEET_SUBJECT_REPORTS, subjects[i], NULL, bytes, n);
		hp3_fleet_look(p->fleet, fleet_clock_us(CLOCK_MONOTONIC) / 1000);
		assert_int_equal(p->bad, 1);
		assert_int_equal(hp3_fleet_counts(p->fleet)->hosts, i);
	}
}

static void a_report_of_another_host(void **state)
{
	up = true;
	run(reports_of_a_host);
}

static void questions(void)
{
	static const char question[] = "{\"ask\":\"hosts\"}";
	unsigned before = published;

	come(FLEET_SUBJECT_ASK, FLEET_SUBJECT_ASK, "_INBOX.1", question, strlen(question));
	assert_int_equal(published, before + 1);
	come(FLEET_SUBJECT_ASK, FLEET_SUBJECT_ASK, FLEET_SUBJECT_PLAN, question, strlen(question));
	come(FLEET_SUBJECT_ASK, FLEET_SUBJECT_ASK, "hp3.report.h", question, strlen(question));
	assert_int_equal(published, before + 1);
}

static void nobody_is_answered_on_subjects_of_the_fleet(void **state)
{
	up = true;
	run(questions);
}

/* What the page and `top` say of a map without lines; "": nothing. */
static void expect_empty_map(struct fleet_planner *p, const char *words)
{
	static const char question[] = "{\"ask\":\"top\"}";
	char *text;

	hp3_fleet_look(p->fleet, fleet_clock_us(CLOCK_MONOTONIC) / 1000);
	text = fleet_answer(p, question, strlen(question));
	assert_non_null(strstr(text, *words == '\0' ? "\"empty_map\":null" : words));
	free(text);
}

static void report_flows(unsigned host, unsigned flows, uint8_t hop)
{
	static uint8_t bytes[HP3_FLEET_BYTES];
	static struct hp3_fleet_report r;
	static uint64_t seq;
	char subject[32];

	r = host_report(host, host, 2);
	r.seq = ++seq;
	for (unsigned i = 0; i < flows; i++)
		add_flow(&r, 3, i + 1, 0, 1000)->hop = hop;
	snprintf(subject, sizeof(subject), "hp3.report.h%u", host);
	come(FLEET_SUBJECT_REPORTS, subject, NULL, bytes,
		hp3_fleet_report_encode(&r, bytes, sizeof(bytes)));
}

static void empty_maps(void)
{
	struct fleet_planner *p = subscribed[0].arg;

	expect_empty_map(
		p, "\"no host reports: start `hp3-fleet --config FILE agent` on each host\"");
	report_flows(1, 0, HP3_FLEET_NO_HOP);
	report_flows(2, 0, HP3_FLEET_NO_HOP);
	expect_empty_map(p, "\"0 flows reported (hosts: 2): no queue pair ");
	report_flows(1, 2, HP3_FLEET_NO_HOP);
	expect_empty_map(
		p, "\"0 of 2 flows traced: set [ppp] identity = trace in hp3.ini of each host");
	report_flows(2, 1, 0);
	expect_empty_map(p, "");
}

static void an_empty_map_has_its_reason(void **state)
{
	up = true;
	run(empty_maps);
}

static void metrics(void)
{
	struct fleet_planner *p = subscribed[0].arg;
	char *text = fleet_metrics(p);

	assert_non_null(strstr(text, "# TYPE hp3_fleet_messages_dropped counter\n"
				     "# HELP hp3_fleet_messages_dropped messages dropped because a "
				     "queue was full\n"
				     "hp3_fleet_messages_dropped_total 7\n"));
	assert_non_null(strstr(text, "hp3_fleet_alarms{level=\"high\"} 0\n# EOF\n"));
	free(text);
	loses_bytes = true;
	assert_null(fleet_metrics(p));
	loses_bytes = false;
}

static void a_metrics_page_that_lacks_bytes_is_not_sent(void **state)
{
	up = true;
	run(metrics);
}

static void without_a_server_it_keeps_its_name(void **state)
{
	up = false;
	run(NULL);
	assert_string_equal(keepalive_from, "p0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subjects_shorter_than_the_prefix),
		cmocka_unit_test(a_report_of_another_host),
		cmocka_unit_test(nobody_is_answered_on_subjects_of_the_fleet),
		cmocka_unit_test(an_empty_map_has_its_reason),
		cmocka_unit_test(a_metrics_page_that_lacks_bytes_is_not_sent),
		cmocka_unit_test(without_a_server_it_keeps_its_name),
	};

	return cmocka_run_group_tests_name("subjects", tests, NULL, NULL);
}
