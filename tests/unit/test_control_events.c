/* SPDX-License-Identifier: BSD-3-Clause */
/* The kept events: their numbers, pages and evidence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "app/hp3d/control/events.h"

static const struct hp3d_events_wanted decisions = {0}, everything = {.all = true};

#define FEW  16 /* decisions that are kept */
#define WALL 1000000000000000000ull /* 2001-09-09T01:46:40Z */

static struct hp3_config small_config(void)
{
	struct hp3_config cfg = {.n_rails = 1};

	strcpy(cfg.rails[0].name, "rail0");
	return cfg;
}

static void events_are_numbered_and_the_latest_kept(void **state)
{
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	list = hp3d_events_page(0, 100, &decisions, &next);
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(next, 0);
	json_decref(list);
	for (uint64_t i = 1; i <= 40; i++) {
		struct hp3d_event event = {.event.type = HP3_EVENT_SWITCH, .event.tag = i};
		hp3d_events_add(&event, WALL + event.event.t_ns);
	}
	assert_int_equal(hp3d_events_last(), 40);
	list = hp3d_events_page(0, 5, &decisions, &next);
	assert_int_equal(json_array_size(list), 5);
	assert_int_equal(next, 29);
	for (size_t i = 0; i < 5; i++) {
		json_t *event = json_array_get(list, i);
		assert_int_equal(json_integer_value(json_object_get(event, "seq")), 25 + i);
		assert_int_equal(json_integer_value(json_object_get(event, "tag")), 25 + i);
	}
	json_decref(list);
	list = hp3d_events_page(next, 100, &decisions, &next);
	assert_int_equal(json_array_size(list), 11);
	assert_int_equal(next, 40);
	json_decref(list);
	list = hp3d_events_page(1000, 100, &decisions, &next); /* from an hp3d that ran before */
	assert_int_equal(json_array_size(list), 0);
	assert_int_equal(next, 40);
	json_decref(list);
	hp3d_events_free();
}

static void an_event_carries_its_evidence(void **state)
{
	struct hp3_config cfg = small_config();
	struct hp3d_event event = {
		.event = {.t_ns = 5005,
			.type = HP3_EVENT_RECOVER,
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

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	hp3d_events_add(&event, WALL + event.event.t_ns);
	event.event.type = HP3_EVENT_PAIR;
	event.event.pairing = HP3_PAIRING_CM;
	event.event.lqpn = 0x11;
	event.event.tag = 0;
	hp3d_events_add(&event, WALL + event.event.t_ns);
	list = hp3d_events_page(0, 2, &decisions, &next);
	text = json_dumps(json_array_get(list, 0), JSON_COMPACT);
	assert_string_equal(text,
		"{\"v\":1,\"seq\":1,\"t_ns\":5005,\"time\":\"2001-09-09T01:46:40.000005Z\","
		"\"flow\":"
		"\"rail0/10.9.0.1-10.9.0.2/0x00001c\","
		"\"type\":\"recover\",\"cause\":\"operator\",\"from\":50000,\"to\":50001,"
		"\"reason\":\"nak\",\"evidence\":{\"drain_ns\":7,\"held_pkts\":9,\"held_bytes\":10,"
		"\"wait_ns\":6,\"close_psn\":8},\"outcome\":\"kept\",\"tag\":11}");
	free(text);
	text = json_dumps(json_array_get(list, 1), JSON_COMPACT);
	assert_string_equal(text,
		"{\"v\":1,\"seq\":2,\"t_ns\":5005,\"time\":\"2001-09-09T01:46:40."
		"000005Z\",\"flow\":"
		"\"rail0/10.9.0.1-10.9.0.2/0x00001c\","
		"\"type\":\"pair\",\"evidence\":{\"pairing\":\"cm\",\"local_qpn\":17},"
		"\"outcome\":\"paired\"}");
	free(text);
	json_decref(list);
	hp3d_events_free();
}

/* --- what a flow does over and over --- */

static uint64_t now;

/* An event of flow `flow`, a microsecond after the one before. */
static struct hp3d_event of(uint32_t flow, enum hp3_event_type type, enum hp3_cause cause)
{
	now += 1000;
	return (struct hp3d_event){.event = {.t_ns = now,
					   .type = (uint8_t)type,
					   .cause = (uint8_t)cause,
					   .flow = flow,
					   .rqpn = 0x1000 + flow},
		.flow = {.flow = flow, .rqpn = 0x1000 + flow}};
}

static void happens(uint32_t flow, enum hp3_event_type type, enum hp3_cause cause)
{
	struct hp3d_event e = of(flow, type, cause);

	hp3d_events_add(&e, WALL + e.event.t_ns);
}

static void round_of(uint32_t flow, enum hp3_cause cause, enum hp3_round_outcome outcome)
{
	struct hp3d_event e = of(flow, HP3_EVENT_ROUND, cause);

	e.event.outcome = (uint8_t)outcome;
	e.event.n_probes = 2;
	e.event.probes[0] = (struct hp3_probe){.port = 50000, .state = HP3_PROBE_ANSWERED};
	e.event.probes[1] = (struct hp3_probe){.port = 50001, .state = HP3_PROBE_ANSWERED};
	hp3d_events_add(&e, WALL + e.event.t_ns);
}

/* The port in use lost its probe, another one answered. */
static void dead_round_of(uint32_t flow)
{
	struct hp3d_event e = of(flow, HP3_EVENT_ROUND, HP3_CAUSE_DEAD);

	e.event.outcome = HP3_ROUND_WINNER;
	e.event.n_probes = 2;
	e.event.probes[0] = (struct hp3_probe){.port = 50000, .state = HP3_PROBE_LOST};
	e.event.probes[1] = (struct hp3_probe){.port = 50001, .state = HP3_PROBE_ANSWERED};
	hp3d_events_add(&e, WALL + e.event.t_ns);
}

/* The end of such a round. */
static void stays(uint32_t flow, enum hp3_cause cause)
{
	struct hp3d_event e = of(flow, HP3_EVENT_RECOVER, cause);

	e.event.reason = HP3_RFR_IN_NO_BETTER;
	hp3d_events_add(&e, WALL + e.event.t_ns);
}

static const char *type_of(json_t *list, size_t i)
{
	return json_string_value(json_object_get(json_array_get(list, i), "type"));
}

static json_int_t number_of(json_t *list, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(list, i), key));
}

/* Numbers rise; returns how many events there are. */
static size_t in_order(json_t *list)
{
	for (size_t i = 1; i < json_array_size(list); i++)
		assert_true(number_of(list, i, "seq") > number_of(list, i - 1, "seq"));
	return json_array_size(list);
}

static json_int_t fruitless(uint32_t flow, const char *cause)
{
	struct hp3_flow_info info = {.flow = flow, .rqpn = 0x1000 + flow};
	json_t *j = hp3d_events_fruitless(0, 0, &info);
	json_int_t n = json_integer_value(json_object_get(j, cause));

	json_decref(j);
	return n;
}

static void fruitless_rounds_do_not_push_out_a_decision(void **state)
{
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	happens(7, HP3_EVENT_SWITCH, HP3_CAUSE_OPERATOR);
	for (unsigned i = 0; i < 10000; i++) {
		happens(i % 8, HP3_EVENT_SEVERE, HP3_CAUSE_CNP);
		round_of(i % 8, i % 16 < 8 ? HP3_CAUSE_CNP : HP3_CAUSE_DEAD, HP3_ROUND_NO_BETTER);
		stays(i % 8, HP3_CAUSE_CNP);
	}
	list = hp3d_events_page(0, 1000, &decisions, &next);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(type_of(list, 0), "switch");
	assert_int_equal(number_of(list, 0, "seq"), 1);
	assert_int_equal(next, hp3d_events_last());
	json_decref(list);
	for (uint32_t f = 0; f < 8; f++) {
		assert_int_equal(fruitless(f, "cnp"), 625);
		assert_int_equal(fruitless(f, "dead"), 625);
	}
	assert_int_equal(fruitless(8, "cnp"), 0);
	hp3d_events_free();
}

/* The first, the second, the fourth, ... of each kind; a decision begins a new spell. */
static void samples_thin_out(void **state)
{
	struct hp3_config cfg = small_config();
	unsigned rounds = 0, ends = 0;
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, 256), 0);
	for (unsigned i = 0; i < 1000; i++) {
		round_of(3, HP3_CAUSE_RTT, HP3_ROUND_TIMEOUT);
		stays(3, HP3_CAUSE_RTT);
	}
	list = hp3d_events_page(0, 1000, &everything, &next);
	assert_int_equal(in_order(list), 20);
	for (size_t i = 0; i < 20; i++) {
		unsigned *n = strcmp(type_of(list, i), "round") == 0 ? &rounds : &ends;

		assert_int_equal(number_of(list, i, "nth"), 1 << (*n)++);
	}
	assert_int_equal(rounds, 10);
	json_decref(list);
	happens(3, HP3_EVENT_SWITCH, HP3_CAUSE_OPERATOR);
	round_of(3, HP3_CAUSE_RTT, HP3_ROUND_TIMEOUT);
	list = hp3d_events_page(next, 1000, &everything, &next);
	assert_int_equal(in_order(list), 2);
	assert_int_equal(number_of(list, 1, "nth"), 1);
	json_decref(list);
	now += 61000000000; /* so does a minute of silence */
	round_of(3, HP3_CAUSE_RTT, HP3_ROUND_TIMEOUT);
	round_of(3, HP3_CAUSE_RTT, HP3_ROUND_TIMEOUT);
	round_of(3, HP3_CAUSE_RTT, HP3_ROUND_TIMEOUT);
	list = hp3d_events_page(next, 1000, &everything, &next);
	assert_int_equal(in_order(list), 2);
	json_decref(list);
	hp3d_events_free();
}

/* What a decision rests on is kept with it, whatever others do meanwhile. */
static void a_failover_keeps_its_rounds(void **state)
{
	static const char *const types[] = {"round", "round", "round", "failover", "resume"};
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	for (unsigned i = 0; i < 5; i++)
		round_of(1, HP3_CAUSE_CNP, HP3_ROUND_NO_BETTER);
	for (unsigned i = 0; i < 3; i++) {
		dead_round_of(1);
		for (unsigned k = 0; k < 1000; k++)
			round_of(2, HP3_CAUSE_DEAD, HP3_ROUND_NO_BETTER);
	}
	happens(1, HP3_EVENT_FAILOVER, HP3_CAUSE_DEAD);
	happens(1, HP3_EVENT_RESUME, HP3_CAUSE_DEAD);
	assert_int_equal(fruitless(1, "dead"), 0);
	assert_int_equal(fruitless(1, "cnp"), 5);
	list = hp3d_events_page(0, 1000, &decisions, &next);
	assert_int_equal(in_order(list), 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(type_of(list, i), types[i]);
	json_decref(list);
	for (unsigned i = 0; i < 3; i++) /* the next one rests on none of these */
		dead_round_of(2);
	now += 11000000000;
	happens(2, HP3_EVENT_FAILOVER, HP3_CAUSE_DEAD);
	list = hp3d_events_page(next, 1000, &decisions, &next);
	assert_int_equal(json_array_size(list), 1);
	json_decref(list);
	hp3d_events_free();
}

/* SEVERE, ROUND, and what came of it; a winner that is not followed is a decision, too. */
static void a_move_keeps_what_set_it_off(void **state)
{
	static const char *const types[] = {
		"severe", "round", "suspend", "switch", "severe", "round", "recover"};
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	happens(1, HP3_EVENT_SEVERE, HP3_CAUSE_CNP);
	round_of(1, HP3_CAUSE_CNP, HP3_ROUND_WINNER);
	happens(1, HP3_EVENT_SUSPEND, HP3_CAUSE_CNP);
	happens(1, HP3_EVENT_SWITCH, HP3_CAUSE_CNP);
	happens(1, HP3_EVENT_SEVERE, HP3_CAUSE_CNP);
	round_of(1, HP3_CAUSE_CNP, HP3_ROUND_WINNER);
	stays(1, HP3_CAUSE_CNP);
	stays(1, HP3_CAUSE_CNP); /* of a round that was called off */
	list = hp3d_events_page(0, 1000, &decisions, &next);
	assert_int_equal(in_order(list), 7);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(type_of(list, i), types[i]);
	json_decref(list);
	hp3d_events_free();
}

/* Reads on from *next in pages of `limit`; how many of each number it saw goes into `seen`. */
static unsigned read_on(unsigned limit, bool all, uint64_t *next, uint8_t *seen)
{
	unsigned n = 0;
	size_t got;
	json_t *list;

	do {
		uint64_t since = *next;

		list = hp3d_events_page(since, limit, all ? &everything : &decisions, next);
		assert_true(json_array_size(list) <= limit);
		for (size_t i = 0; i < in_order(list); i++, n++) {
			assert_in_range(number_of(list, i, "seq"), since + 1, *next);
			seen[number_of(list, i, "t_ns") / 1000 % 4096]++;
		}
		got = json_array_size(list);
		json_decref(list);
	} while (got == limit);
	return n;
}

/* Whoever reads on sees each event once, in order, sample or evidence, in pages of any size. */
static void pages_show_everything_once(void **state)
{
	for (unsigned limit = 1; limit < 8; limit++) {
		struct hp3_config cfg = small_config();
		uint8_t all[4096] = {0}, decided[4096] = {0};
		uint64_t next = 0, next_all = 0;
		unsigned n = 0, n_all = 0;

		now = 0;
		assert_int_equal(hp3d_events_init(&cfg, 1024), 0);
		for (unsigned i = 0; i < 60; i++) {
			round_of(i % 3, HP3_CAUSE_ECN, HP3_ROUND_NO_BETTER);
			dead_round_of(i % 3);
			if (i % 7 == 6)
				happens(i % 3, HP3_EVENT_FAILOVER, HP3_CAUSE_DEAD);
			if (i % 5 == 4)
				round_of(i % 3, HP3_CAUSE_ECN, HP3_ROUND_WINNER);
			if (i % 4 == 0) {
				n += read_on(limit, false, &next, decided);
				n_all += read_on(limit, true, &next_all, all);
			}
		}
		n += read_on(limit, false, &next, decided);
		n_all += read_on(limit, true, &next_all, all);
		assert_int_equal(next, hp3d_events_last());
		assert_int_equal(next_all, hp3d_events_last());
		for (unsigned i = 0; i < 4096; i++) {
			assert_in_range(all[i], decided[i], 1);
		}
		assert_true(n >= 8 * 2 + 12 && n < n_all);
		hp3d_events_free();
	}
}

/* More flows than there is room for: the latest are remembered, and nothing is allocated. */
static void flows_beyond_the_room_are_forgotten(void **state)
{
	struct hp3_config cfg = small_config();
	uint64_t next;
	json_t *list;

	assert_int_equal(hp3d_events_init(&cfg, FEW), 0);
	happens(0, HP3_EVENT_SWITCH, HP3_CAUSE_OPERATOR);
	for (uint32_t f = 0; f < 5000; f++)
		round_of(f, HP3_CAUSE_CNP, HP3_ROUND_NO_BETTER);
	assert_int_equal(fruitless(0, "cnp"), 0);
	assert_int_equal(fruitless(4999, "cnp"), 1);
	list = hp3d_events_page(0, 1000, &everything, &next);
	assert_int_equal(in_order(list), 1 + 16);
	json_decref(list);
	hp3d_events_free();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_numbered_and_the_latest_kept),
		cmocka_unit_test(an_event_carries_its_evidence),
		cmocka_unit_test(fruitless_rounds_do_not_push_out_a_decision),
		cmocka_unit_test(samples_thin_out),
		cmocka_unit_test(a_failover_keeps_its_rounds),
		cmocka_unit_test(a_move_keeps_what_set_it_off),
		cmocka_unit_test(pages_show_everything_once),
		cmocka_unit_test(flows_beyond_the_room_are_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
