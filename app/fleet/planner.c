/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/planner.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/random.h>
#include "app/fleet/answer.h"
#include "app/fleet/process.h"
#include "fleet/names.h"

#define ALIGNMENT 64u

static uint64_t now_ms(void)
{
	return fleet_clock_us(CLOCK_MONOTONIC) / 1000;
}

static void count_bad(struct fleet_planner *p, int ret)
{
	if (ret == -EPROTONOSUPPORT)
		p->other_version++;
	else
		p->bad++;
}

/* The host in the subject of a report; "": another subject, despite the subscription. */
static const char *host_of_subject(const char *subject)
{
	const size_t n = strlen(FLEET_SUBJECT_PREFIX);

	return strncmp(subject, FLEET_SUBJECT_PREFIX, n) == 0 ? subject + n : "";
}

/* The server controls who may publish on which subject. A report must have its subject's host. */
static void on_report(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	struct fleet_planner *p = arg;
	struct hp3_fleet_report r;
	int ret = hp3_fleet_report_decode(data, len, &r);

	if (ret == 0 && strcmp(host_of_subject(subject), r.host) != 0)
		ret = -EBADMSG;
	pthread_mutex_lock(&p->lock);
	if (ret == 0)
		hp3_fleet_take(p->fleet, &r, now_ms());
	else
		count_bad(p, ret);
	pthread_mutex_unlock(&p->lock);
}

static void on_keepalive(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	struct fleet_planner *p = arg;
	struct hp3_fleet_keepalive b;
	int ret = hp3_fleet_keepalive_decode(data, len, &b);

	pthread_mutex_lock(&p->lock);
	if (ret < 0)
		count_bad(p, ret);
	else if (!hp3_election_heard(&p->election, &b, now_ms()))
		p->namesakes++;
	pthread_mutex_unlock(&p->lock);
}

static void remember_plan(struct fleet_planner *p, const struct hp3_fleet_plan *plan)
{
	p->plan = *plan;
	for (unsigned i = 0; i < plan->n_moves; i++)
		p->recent[p->n_recent++ % FLEET_RECENT] = (struct fleet_past_move){
			fleet_clock_us(CLOCK_REALTIME) / 1000, plan->epoch, plan->move[i]};
}

/* Stores the plan of another planner, for questions to this one. */
static void on_other_plan(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	struct fleet_planner *p = arg;
	static struct hp3_fleet_plan plan; /* one subscription, one thread */
	int ret = hp3_fleet_plan_decode(data, len, &plan);

	pthread_mutex_lock(&p->lock);
	if (ret < 0)
		count_bad(p, ret);
	else
		remember_plan(p, &plan);
	pthread_mutex_unlock(&p->lock);
}

/* A question must not make this planner publish on the fleet's own subjects. */
static bool may_be_sent(const char *reply)
{
	return reply != NULL && strncmp(reply, FLEET_SUBJECTS, strlen(FLEET_SUBJECTS)) != 0;
}

static void on_question(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	struct fleet_planner *p = arg;
	char *text = may_be_sent(reply) && len <= FLEET_QUESTION_MAX
			     ? fleet_answer(p, (const char *)data, len)
			     : NULL;

	if (text != NULL)
		hp3_bus_publish(p->bus, reply, text, strlen(text));
	free(text);
}

static void send_keep_alive(struct fleet_planner *p)
{
	uint8_t bytes[HP3_FLEET_NAME + 32];
	struct hp3_fleet_keepalive b;
	bool led = p->led_since_ms != 0;
	uint64_t now;
	size_t n;

	pthread_mutex_lock(&p->lock);
	now = now_ms(); /* under the lock: not before any keep-alive that was taken */
	if (!hp3_bus_is_up(p->bus)) /* a planner without a connection must not lead: it waits */
		hp3_election_init(&p->election, p->election.name, p->cfg->fleet.takeover_ms, now);
	if (!hp3_election_tick(&p->election, now))
		p->led_since_ms = 0;
	else if (!led)
		p->led_since_ms = now;
	b = hp3_election_keepalive(&p->election);
	pthread_mutex_unlock(&p->lock);
	if (led != (p->led_since_ms != 0))
		fprintf(stderr, "hp3-fleet: %s %s, term %llu\n", b.planner,
			led ? "plans no more" : "plans", (unsigned long long)b.term);
	n = hp3_fleet_keepalive_encode(&b, bytes, sizeof(bytes));
	hp3_bus_publish(p->bus, FLEET_SUBJECT_KEEPALIVE, bytes, n);
}

/*
 * A new leader waits until the last plan of the previous leader has expired, and all hosts have
 * reported.
 */
static void make_plan(struct fleet_planner *p)
{
	static struct hp3_fleet_plan plan;
	static uint8_t bytes[HP3_FLEET_BYTES];
	uint64_t began, now;
	bool plans;
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	began = fleet_clock_us(CLOCK_MONOTONIC);
	now = began / 1000;
	hp3_fleet_look(p->fleet, now);
	p->now_ms = now;
	plans = p->led_since_ms != 0 && now - p->led_since_ms >= p->cfg->p.valid_ms;
	if (plans) {
		hp3_fleet_plan(p->fleet, p->election.term, p->election.name, now, &plan);
		n = hp3_fleet_plan_encode(&plan, bytes, sizeof(bytes));
		remember_plan(p, &plan);
		p->plans++;
		p->moves += plan.n_moves;
	}
	p->look_us = fleet_clock_us(CLOCK_MONOTONIC) - began;
	pthread_mutex_unlock(&p->lock);
	if (plans)
		hp3_bus_publish(p->bus, FLEET_SUBJECT_PLAN, bytes, n);
}

static void run_planner(struct fleet_planner *p)
{
	uint64_t keepalive_due = 0, look_due = 0;

	while (!fleet_is_over(p->bus)) {
		uint64_t now = now_ms(), due;
		struct timespec pause = {0};

		if (now >= keepalive_due) {
			send_keep_alive(p);
			keepalive_due = now + p->cfg->fleet.keepalive_ms;
		}
		if (now >= look_due) {
			make_plan(p);
			look_due = now + p->cfg->plan.interval_ms;
		}
		due = keepalive_due < look_due ? keepalive_due : look_due;
		pause.tv_sec = (time_t)((due - now) / 1000);
		pause.tv_nsec = (long)((due - now) % 1000) * 1000000;
		nanosleep(&pause, NULL); /* a signal interrupts it */
	}
}

static int subscribe_subjects(struct fleet_planner *p)
{
	if (hp3_bus_subscribe(p->bus, FLEET_SUBJECT_REPORTS, NULL, on_report, p) < 0 ||
		hp3_bus_subscribe(p->bus, FLEET_SUBJECT_KEEPALIVE, NULL, on_keepalive, p) < 0 ||
		hp3_bus_subscribe(p->bus, FLEET_SUBJECT_PLAN, NULL, on_other_plan, p) < 0 ||
		hp3_bus_subscribe(p->bus, FLEET_SUBJECT_ASK, "hp3-fleet", on_question, p) < 0) {
		if (!hp3_bus_is_refused(p->bus))
			fputs("hp3-fleet: no memory for subscriptions\n", stderr);
		return -EIO;
	}
	return 0;
}

static void name_it(const struct fleet_config *cfg, char name[HP3_FLEET_NAME])
{
	char host[HP3_FLEET_NAME] = "";

	if (*cfg->fleet.name != '\0') {
		snprintf(name, HP3_FLEET_NAME, "%s", cfg->fleet.name);
		return;
	}
	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	if (!hp3_fleet_is_name(host))
		strcpy(host, "planner");
	snprintf(name, HP3_FLEET_NAME, "%.40s-%d", host, (int)getpid());
}

static int make_core(struct fleet_planner *p)
{
	struct hp3_fleet_params params = p->cfg->p;
	char name[HP3_FLEET_NAME];
	size_t size;
	void *mem;

	if (getrandom(&params.hash_seed, sizeof(params.hash_seed), 0) < 0)
		return -errno;
	size = hp3_fleet_size(&params);
	mem = size > 0 ? aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
		       : NULL;
	p->fleet = mem != NULL ? hp3_fleet_create(mem, &params) : NULL;
	if (p->fleet == NULL) {
		fprintf(stderr, "hp3-fleet: no memory for %u hosts: lower max_hosts= in [map]\n",
			params.max_hosts);
		return -ENOMEM;
	}
	name_it(p->cfg, name);
	hp3_election_init(&p->election, name, p->cfg->fleet.takeover_ms, now_ms());
	return 0;
}

int fleet_run(const struct fleet_config *cfg)
{
	static struct fleet_planner planner;
	struct fleet_planner *p = &planner;
	int ret = FLEET_FAILED;

	*p = (struct fleet_planner){.cfg = cfg, .lock = PTHREAD_MUTEX_INITIALIZER};
	fleet_ends_by_signals();
	if (make_core(p) < 0)
		return FLEET_FAILED;
	p->bus = fleet_bus_open(cfg);
	if (p->bus != NULL && subscribe_subjects(p) == 0 && fleet_http_start(p) == 0) {
		fprintf(stderr, "hp3-fleet: %s, %s\n", p->election.name,
			hp3_bus_is_up(p->bus) ? "connected" : "no server yet, trying again");
		run_planner(p);
		ret = FLEET_DONE;
	}
	if (p->bus != NULL && fleet_ended(p->bus, cfg) != FLEET_DONE)
		ret = FLEET_FAILED;
	fleet_http_stop();
	hp3_bus_close(p->bus);
	free(p->fleet);
	return ret;
}
