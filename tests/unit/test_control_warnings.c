/* SPDX-License-Identifier: BSD-3-Clause */
/* Each condition in the answer to "health" gives a warning; without conditions there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/control/health.h"

/* The members of the answer that warnings are about, all of them without a condition. */
static json_t *sound(void)
{
	static const char text[] =
		"{'lcores': 2, 'lcores_answering': 2, 'events_lost': 0,"
		" 'links': {'rail0': {'rnic': true, 'net': true}},"
		" 'bypass': {'rail0': {'bypass': 'auto', 'state': 'taken', 'direct': false,"
		"   'hangs': 0, 'not_kept': 0, 'left_behind': 0,"
		"   'rnic': {'lost': 0, 'closed': 0, 'direct': 0},"
		"   'net': {'lost': 0, 'closed': 0, 'direct': 0}}, 'rail1': null},"
		" 'packets': {'rail0': {'tx': 1, 'rx': 1, 'drop_handover': 0, 'drop_tx_full': 0,"
		"   'drop_too_long': 0, 'flows_full': 0, 'pairs_full': 0}},"
		" 'pool': {'rx': {'size': 1000, 'free': 100}},"
		" 'unpaired': {'others-near': 7, 'asking': 1},"
		" 'audit': {'file': '/a', 'state': 'ok', 'written': 3, 'lost_rate': 0,"
		"   'lost_queue': 0, 'lost_disk': 0},"
		" 'watch': {'by': 'none', 'up': 1, 'down': 1, 'refused': 0, 'no_rail': 0,"
		"   'ends': 0}}";
	char json[sizeof(text)];
	json_t *j;

	memcpy(json, text, sizeof(text));
	for (char *p = json; (p = strchr(p, '\'')) != NULL;)
		*p = '"';
	j = json_loads(json, 0, NULL);
	assert_non_null(j);
	return j;
}

/* Sets the value at a path, whose parts are separated by dots. */
static void set_value(json_t *j, const char *path, json_t *value)
{
	char copy[128], *rest = NULL, *part;

	assert_true(strlen(path) < sizeof(copy));
	strcpy(copy, path);
	part = strtok_r(copy, ".", &rest);
	for (char *next; (next = strtok_r(NULL, ".", &rest)) != NULL; part = next) {
		j = json_object_get(j, part);
		assert_non_null(j);
	}
	json_object_set_new(j, part, value);
}

static void no_condition_no_warning(void **state)
{
	json_t *health = sound(), *list = hp3d_health_warnings(health);

	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	json_decref(health);
}

static void each_condition_is_a_warning(void **state)
{
	static const struct {
		const char *path, *value, *code, *text;
		int count; /* 0: not a counter */
	} rows[] = {
		{"lcores_answering", "1", "lcore-hangs", "1 of 2 lcores did not answer"},
		{"events_lost", "5", "events-lost",
			"missing in hp3ctl events and in the audit log: 5", 5},
		{"links.rail0.net", "false", "link-down", "[rail.rail0] net: the port has no link"},
		{"bypass.rail0.direct", "true", "direct", "[rail.rail0]: RoCEv2 packets bypass"},
		{"bypass.rail0.hangs", "2", "hangs", "hangs: 2", 2},
		{"bypass.rail0.not_kept", "3", "not-kept", "home ports: 3", 3},
		{"bypass.rail0.left_behind", "3", "left-behind", "went direct: 3", 3},
		{"bypass.rail0.rnic.lost", "4", "ring-full",
			"rnic: frames lost because the ring of hp3d was full: 4", 4},
		{"bypass.rail0.net.closed", "4", "closed",
			"net: RoCEv2 frames dropped because bypass was off: 4", 4},
		{"packets.rail0.drop_handover", "1", "drop-handover",
			"[rail.rail0]: packets dropped because their lcore had no room: 1", 1},
		{"packets.rail0.drop_tx_full", "1", "drop-tx-full", "did not accept", 1},
		{"packets.rail0.drop_too_long", "1", "drop-too-long", "longer than the MTU", 1},
		{"packets.rail0.flows_full", "1", "flows-full", "flow table", 1},
		{"packets.rail0.pairs_full", "1", "pairs-full", "address pairs", 1},
		{"pool.rx.free", "99", "pool", "only 99 of 1000 packet buffers of rx"},
		{"unpaired.no-replies", "2", "unpaired",
			"flows not paired because no replies were seen: 2"},
		{"unpaired.wrong-icrc", "2", "unpaired", "the ICRC is wrong"},
		{"unpaired.too-many-queue-pairs", "2", "unpaired", "too many queue pairs"},
		{"audit.state", "\"No space left on device\"", "audit", "/a cannot be written: No"},
		{"audit.lost_disk", "8", "audit-lost-disk", "written: 8", 8},
		{"audit.lost_queue", "8", "audit-lost-rate", "at once: 8", 8},
		{"audit.lost_rate", "8", "audit-lost-rate", "at once: 8", 8},
		{"watch.ends", "1", "watch-ends", "died or hung: 1", 1},
		{"watch.no_rail", "6", "watch-no-rail", "no rail: 6", 6},
		{"watch.refused", "6", "watch-refused", "flow table: 6", 6},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *health = sound(), *list, *warning;

		set_value(health, rows[i].path, json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		list = hp3d_health_warnings(health);
		assert_int_equal(json_array_size(list), 1);
		warning = json_array_get(list, 0);
		assert_string_equal(
			json_string_value(json_object_get(warning, "code")), rows[i].code);
		assert_non_null(
			strstr(json_string_value(json_object_get(warning, "text")), rows[i].text));
		assert_true(json_string_length(json_object_get(warning, "fix")) > 0);
		assert_int_equal(
			json_integer_value(json_object_get(warning, "count")), rows[i].count);
		json_decref(list);
		json_decref(health);
	}
}

/* What helps depends on who made packets go direct. */
static void the_fix_of_direct_depends_on_the_cause(void **state)
{
	static const struct {
		const char *bypass, *state, *fix;
	} rows[] = {
		{"on", "direct", "type hp3ctl bypass auto"},
		{"auto", "waiting", "stop the other hp3d that has these ports"},
		{"auto", "replaced", "stop the other hp3d that has these ports"},
		{"auto", "direct",
			"nothing to do: hp3d takes the rail over again within a second after a "
			"hang"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *health = sound(), *list;

		set_value(health, "bypass.rail0.direct", json_true());
		set_value(health, "bypass.rail0.bypass", json_string(rows[i].bypass));
		set_value(health, "bypass.rail0.state", json_string(rows[i].state));
		list = hp3d_health_warnings(health);
		assert_int_equal(json_array_size(list), 1);
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(list, 0), "fix")),
			rows[i].fix);
		json_decref(list);
		json_decref(health);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_condition_no_warning),
		cmocka_unit_test(each_condition_is_a_warning),
		cmocka_unit_test(the_fix_of_direct_depends_on_the_cause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
