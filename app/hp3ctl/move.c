/* SPDX-License-Identifier: BSD-3-Clause */
/* move: requests moves, and waits for the events that end them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3ctl/hp3ctl.h"

#define EVENTS_PAGE     1000
#define DEFAULT_WAIT_MS 2000u
/* Requests in flight: they fit the socket's buffer, even if hp3d does not read. */
#define MOVES_WINDOW   64u
#define MOVES_BATCH    256u
#define MOVES_PAUSE_US 5000

struct moves {
	struct hp3ctl *ctl;
	json_int_t since; /* number of the last event read */
	json_int_t *tags; /* of moves in progress, ascending */
	size_t n, cap, sent;
	size_t done; /* of `tags` */
	json_t *unpaired; /* flows that were skipped, by reason (hp3ctl_count_unpaired()) */
	size_t skipped, refused; /* flows whose moves did not begin */
	json_t *reasons; /* of refusals: code -> [number, fix] */
	size_t moved, failed;
	json_int_t drain_max_ns;
	json_int_t held_pkts, held_bytes;
};

static json_t *move_request(const struct hp3ctl *ctl, const char *flow)
{
	json_t *req = json_pack("{s:s, s:s}", "cmd", "move", "flow", flow);

	if (ctl->given & HP3CTL_BIT(PORT))
		json_object_set_new(
			req, "port", json_integer((json_int_t)ctl->number[HP3CTL_PORT]));
	else
		json_object_set_new(
			req, ctl->given & HP3CTL_BIT(HOME) ? "home" : "random", json_true());
	if (ctl->given & HP3CTL_BIT(ASK))
		json_object_set_new(req, "ask", json_true());
	return req;
}

/* Adds a move in progress. */
static int note_move(struct moves *m, json_t *data)
{
	if (m->n == m->cap) {
		size_t cap = m->cap * 2 + MOVES_WINDOW;
		json_int_t *tags = realloc(m->tags, cap * sizeof(*tags));
		if (!tags)
			return hp3ctl_fail(m->ctl, HP3CTL_FAILED, "no-memory",
				"free memory on this host", "out of memory");
		m->tags = tags;
		m->cap = cap;
	}
	if (m->n == 0)
		m->since = hp3ctl_number(data, "since");
	m->tags[m->n++] = hp3ctl_number(data, "tag");
	return HP3CTL_DONE;
}

static int compare_tags(const void *a, const void *b)
{
	json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return (x > y) - (x < y);
}

/* Counts and prints an event if it ends one of these moves. */
static void take_event(struct moves *m, json_t *event)
{
	json_t *evidence = json_object_get(event, "evidence");
	const char *outcome = json_string_value(json_object_get(event, "outcome"));
	json_int_t tag = hp3ctl_number(event, "tag");
	json_int_t drain_ns = hp3ctl_number(evidence, "drain_ns");

	if (!tag || !bsearch(&tag, m->tags, m->n, sizeof(tag), compare_tags))
		return;
	m->done++;
	if (outcome && strcmp(outcome, "moved") == 0)
		m->moved++;
	else
		m->failed++;
	if (drain_ns > m->drain_max_ns)
		m->drain_max_ns = drain_ns;
	m->held_pkts += hp3ctl_number(evidence, "held_pkts");
	m->held_bytes += hp3ctl_number(evidence, "held_bytes");
	hp3ctl_print_event(m->ctl, event);
}

/* Returns when all moves have ended, or the time is over. */
static int await_moves(struct moves *m)
{
	uint64_t wait =
		m->ctl->given & HP3CTL_BIT(WAIT) ? m->ctl->number[HP3CTL_WAIT] : DEFAULT_WAIT_MS;
	uint64_t end = hp3_clock_ms() + wait;

	while (m->done < m->n) {
		json_t *answer, *event;
		size_t i, n;
		int rc = hp3ctl_ask(m->ctl,
			json_pack("{s:s, s:I, s:i}", "cmd", "events", "since", m->since, "limit",
				EVENTS_PAGE),
			&answer);
		if (rc != HP3CTL_DONE)
			return rc;
		n = json_array_size(json_object_get(answer, "data"));
		json_array_foreach (json_object_get(answer, "data"), i, event)
			take_event(m, event);
		m->since = hp3ctl_number(answer, "next");
		json_decref(answer);
		if (m->done == m->n)
			break;
		if (hp3_clock_ms() >= end)
			return hp3ctl_fail(m->ctl, HP3CTL_FAILED, "no-result",
				"wait longer with --wait MS, or look at hp3ctl events: the move "
				"goes on",
				"%zu of %zu moves without a result after %llu ms", m->n - m->done,
				m->n, (unsigned long long)wait);
		if (n < EVENTS_PAGE)
			usleep(MOVES_PAUSE_US);
	}
	return HP3CTL_DONE;
}

/* With --json, prints a line per refusal; otherwise counts them by reason. */
static void note_refusal(struct moves *m, json_t *answer)
{
	const char *code = hp3ctl_error_code(answer);
	json_t *fix = json_object_get(json_object_get(answer, "error"), "fix");
	json_t *reason = json_object_get(m->reasons, code);

	if (m->ctl->json)
		hp3ctl_print_json(answer);
	else if (reason)
		json_integer_set(json_array_get(reason, 0),
			json_integer_value(json_array_get(reason, 0)) + 1);
	else
		json_object_set_new(m->reasons, code, json_pack("[i, O]", 1, fix));
}

/* Receives the answer to the oldest open request. */
static int take_answer(struct moves *m)
{
	json_t *answer;
	int rc = hp3ctl_receive(m->ctl, &answer);

	if (rc != HP3CTL_DONE)
		return rc;
	m->sent--;
	if (!hp3ctl_error_code(answer)) {
		rc = note_move(m, json_object_get(answer, "data"));
	} else {
		m->refused++;
		note_refusal(m, answer);
	}
	json_decref(answer);
	return rc;
}

static int take_answers(struct moves *m, size_t left)
{
	int rc = HP3CTL_DONE;

	while (rc == HP3CTL_DONE && m->sent > left)
		rc = take_answer(m);
	return rc;
}

/* Batch by batch, so that hp3d has enough move slots, and still stores the events when hp3ctl reads
 * them. */
static int ask_all(struct moves *m, json_t *flows)
{
	bool wait = !(m->ctl->given & HP3CTL_BIT(NO_WAIT));
	size_t i, asked = 0;
	int rc = HP3CTL_DONE;
	json_t *flow;

	json_array_foreach (flows, i, flow) {
		if (!json_is_true(json_object_get(flow, "paired"))) {
			m->skipped++;
			hp3ctl_count_unpaired(m->unpaired, flow);
			continue;
		}
		rc = hp3ctl_send(m->ctl,
			move_request(m->ctl, json_string_value(json_object_get(flow, "flow"))));
		if (rc != HP3CTL_DONE)
			return rc;
		m->sent++;
		rc = take_answers(m, MOVES_WINDOW - 1);
		if (rc == HP3CTL_DONE && ++asked % MOVES_BATCH == 0) {
			rc = take_answers(m, 0);
			if (rc == HP3CTL_DONE && wait)
				rc = await_moves(m);
		}
		if (rc != HP3CTL_DONE)
			return rc;
	}
	rc = take_answers(m, 0);
	return rc == HP3CTL_DONE && wait ? await_moves(m) : rc;
}

static void print_move_summary(const struct moves *m)
{
	json_t *reason;
	const char *code;

	if (m->ctl->json) {
		hp3ctl_print_new_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:O}",
			"asked", (json_int_t)(m->n + m->refused), "refused", (json_int_t)m->refused,
			"skipped", (json_int_t)m->skipped, "moved", (json_int_t)m->moved, "failed",
			(json_int_t)m->failed, "drain_max_ns", m->drain_max_ns, "held_pkts",
			m->held_pkts, "held_bytes", m->held_bytes, "unpaired", m->unpaired));
		return;
	}
	printf("%zu moves asked for, %zu refused, %zu moved, %zu not moved, %zu unpaired flows "
	       "left alone; longest drain %.1f us, %lld packets and %lld bytes held\n",
		m->n + m->refused, m->refused, m->moved, m->failed, m->skipped,
		(double)m->drain_max_ns / 1e3, m->held_pkts, m->held_bytes);
	json_object_foreach (m->reasons, code, reason)
		printf("%lld refused, %s: %s\n", json_integer_value(json_array_get(reason, 0)),
			code, json_string_value(json_array_get(reason, 1)));
	hp3ctl_print_unpaired(m->unpaired);
}

static int move_all(struct hp3ctl *ctl)
{
	struct moves m = {.ctl = ctl, .reasons = json_object(), .unpaired = json_object()};
	json_t *flows;
	int rc = hp3ctl_read_flows(ctl, NULL, &flows);

	if (rc == HP3CTL_DONE)
		rc = ask_all(&m, flows);
	if (rc == HP3CTL_DONE || m.n)
		print_move_summary(&m);
	if (rc == HP3CTL_DONE && (m.refused || m.failed))
		rc = HP3CTL_FAILED;
	json_decref(flows);
	json_decref(m.reasons);
	json_decref(m.unpaired);
	free(m.tags);
	return rc;
}

int hp3ctl_move(struct hp3ctl *ctl)
{
	struct moves m = {.ctl = ctl};
	json_t *data;
	int rc;

	if (ctl->given & HP3CTL_BIT(ALL))
		return move_all(ctl);
	rc = hp3ctl_ask_data(ctl, move_request(ctl, ctl->args[0]), &data);
	if (rc != HP3CTL_DONE)
		return rc;
	rc = note_move(&m, data);
	if (rc == HP3CTL_DONE && ctl->given & HP3CTL_BIT(NO_WAIT)) {
		if (ctl->json)
			hp3ctl_print_json(data);
		else
			printf("%s: move begun\n", hp3ctl_text(data, "flow"));
	} else if (rc == HP3CTL_DONE) {
		rc = await_moves(&m);
		if (rc == HP3CTL_DONE && m.failed)
			rc = HP3CTL_FAILED;
	}
	json_decref(data);
	free(m.tags);
	return rc;
}
