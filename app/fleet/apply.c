/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/apply.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/fleet/planner.h"

#define OUTCOME_MS    5000u /* a move ends within this time, or its event was lost */
#define OUTCOMES_PAGE 500

static void on_advised_plan(
	void *arg, const char *subject, const char *reply, const uint8_t *data, size_t len)
{
	static struct hp3_fleet_plan plan; /* one subscription, one thread */
	struct fleet_apply *h = arg;
	int ret = hp3_fleet_plan_decode(data, len, &plan);
	ssize_t rung;

	pthread_mutex_lock(&h->lock);
	h->bad += ret < 0;
	if (ret == 0) {
		h->plan = plan;
		h->came = true;
	}
	pthread_mutex_unlock(&h->lock);
	rung = write(h->bell[1], "", 1); /* full: the agent wakes up anyway */
	(void)rung;
}

int fleet_apply_start(struct fleet_apply *h, struct hp3_bus *bus, struct fleet_hp3d *hp3d,
	const char *host, uint64_t instance)
{
	*h = (struct fleet_apply){.hp3d = hp3d, .lock = PTHREAD_MUTEX_INITIALIZER};
	hp3_fleet_advice_init(&h->advice, host, instance);
	if (pipe2(h->bell, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	return hp3_bus_subscribe(bus, FLEET_SUBJECT_PLAN, NULL, on_advised_plan, h);
}

static void log_advice(
	const struct fleet_apply *h, const char *flow, const char *what, const char *more)
{
	fprintf(stderr, "hp3-fleet: %s, advised by %s (term %llu, epoch %llu): %s%s%s\n", flow,
		h->advice.planner, (unsigned long long)h->advice.term,
		(unsigned long long)h->advice.epoch, what, *more != '\0' ? ", " : "", more);
}

static bool is_over(const struct fleet_apply *h, unsigned i, uint64_t now_ms)
{
	return h->outcomes[i].until_ms <= now_ms;
}

/* Stores an outcome for the next reports. Drops the flow's earlier one, and expired ones. */
static void remember_outcome(struct fleet_apply *h, const char *flow, uint16_t port,
	enum hp3_fleet_advised what, uint64_t now_ms)
{
	for (unsigned i = h->n_outcomes; i-- > 0;)
		if (is_over(h, i, now_ms) || strcmp(h->outcomes[i].flow, flow) == 0)
			h->outcomes[i] = h->outcomes[--h->n_outcomes];
	if (h->n_outcomes == FLEET_APPLY_OPEN)
		return; /* no room: this outcome is not reported */
	snprintf(h->outcomes[h->n_outcomes].flow, HP3_FLOWID_MAX, "%s", flow);
	h->outcomes[h->n_outcomes].port = port;
	h->outcomes[h->n_outcomes].what = (uint8_t)what;
	h->outcomes[h->n_outcomes++].until_ms = now_ms + FLEET_APPLY_REPORT_MS;
}

static void ask_move(
	struct fleet_apply *h, const char *flow, const struct hp3_fleet_move *m, uint64_t now_ms)
{
	json_t *answer =
		fleet_hp3d_ask(h->hp3d, json_pack("{s:s, s:s, s:i, s:b}", "cmd", "move", "flow",
						flow, "port", m->to_port, "ask", 1));

	if (answer == NULL && h->hp3d->is_busy) {
		hp3_fleet_advice_busy(&h->advice, now_ms);
		return;
	}
	if (answer == NULL) {
		log_advice(h, flow, "not taken", h->hp3d->why);
		remember_outcome(h, flow, m->to_port, HP3_FLEET_REFUSED, now_ms);
		return;
	}
	if (h->n_open == 0)
		h->since = json_integer_value(json_object_get(answer, "since"));
	if (h->n_open < FLEET_APPLY_OPEN) {
		snprintf(h->open[h->n_open].flow, HP3_FLOWID_MAX, "%s", flow);
		h->open[h->n_open].port = m->to_port;
		h->open[h->n_open].tag = json_integer_value(json_object_get(answer, "tag"));
		h->open[h->n_open++].until_ms = now_ms + OUTCOME_MS;
	}
	json_decref(answer);
}

void fleet_apply_plan(struct fleet_apply *h, const struct fleet_gather *g,
	const struct hp3_fleet_report *r, uint64_t now_ms)
{
	static struct hp3_fleet_plan plan;
	const struct hp3_fleet_move *m;
	char rung[64];
	unsigned flow;
	bool came;

	while (read(h->bell[0], rung, sizeof(rung)) > 0)
		;
	pthread_mutex_lock(&h->lock);
	came = h->came;
	h->came = false;
	if (came)
		plan = h->plan;
	pthread_mutex_unlock(&h->lock);
	if (came)
		hp3_fleet_advice_plan(&h->advice, &plan, now_ms);
	while ((m = hp3_fleet_advice_next(&h->advice, r, now_ms, &flow)) != NULL)
		ask_move(h, g->id[flow], m, now_ms);
}

static void close_one(struct fleet_apply *h, unsigned i)
{
	h->open[i] = h->open[--h->n_open];
}

static void note_outcome(struct fleet_apply *h, json_t *event, uint64_t now_ms)
{
	json_int_t tag = json_integer_value(json_object_get(event, "tag"));
	const char *outcome = json_string_value(json_object_get(event, "outcome"));

	for (unsigned i = 0; tag != 0 && i < h->n_open; i++) {
		if (h->open[i].tag != tag)
			continue;
		log_advice(h, h->open[i].flow, outcome != NULL ? outcome : "no outcome", "");
		if (outcome != NULL)
			remember_outcome(h, h->open[i].flow, h->open[i].port,
				strcmp(outcome, "moved") == 0 ? HP3_FLEET_MOVED
							      : HP3_FLEET_DECLINED,
				now_ms);
		close_one(h, i);
		return;
	}
}

void fleet_apply_outcomes(struct fleet_apply *h, uint64_t now_ms)
{
	json_t *events, *event;
	size_t i;

	if (h->n_open == 0)
		return;
	events = fleet_hp3d_ask(h->hp3d, json_pack("{s:s, s:I, s:i}", "cmd", "events", "since",
						 h->since, "limit", OUTCOMES_PAGE));
	json_array_foreach (events, i, event) {
		h->since = json_integer_value(json_object_get(event, "seq"));
		note_outcome(h, event, now_ms);
	}
	json_decref(events);
	for (unsigned k = h->n_open; k-- > 0;) {
		if (now_ms < h->open[k].until_ms)
			continue;
		log_advice(h, h->open[k].flow, "hp3d reported no outcome", "");
		close_one(h, k);
	}
}

void fleet_apply_report(struct fleet_apply *h, const struct fleet_gather *g,
	struct hp3_fleet_report *r, uint64_t now_ms)
{
	for (unsigned i = 0; i < r->n_flows; i++)
		for (unsigned k = 0; k < h->n_outcomes; k++) {
			if (is_over(h, k, now_ms) || strcmp(h->outcomes[k].flow, g->id[i]) != 0)
				continue;
			r->flow[i].advised = h->outcomes[k].what;
			r->flow[i].advised_port = h->outcomes[k].port;
		}
}

void fleet_apply_end(struct fleet_apply *h)
{
	fprintf(stderr, "hp3-fleet: advice: %llu bad messages", (unsigned long long)h->bad);
#define X(field, text)                                                                             \
	if (h->advice.c.field != 0)                                                                \
		fprintf(stderr, "; %llu %s", (unsigned long long)h->advice.c.field, text);
	HP3_FLEET_ADVICE_COUNTS(X)
#undef X
	fputc('\n', stderr);
	close(h->bell[0]);
	close(h->bell[1]);
}
