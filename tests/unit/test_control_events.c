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
#include "app/hp3d/events.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_numbered_and_the_latest_kept),
		cmocka_unit_test(an_event_carries_its_evidence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
