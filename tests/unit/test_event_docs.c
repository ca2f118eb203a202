/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d(8)'s section EVENTS has every type and cause of the engine's events, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3d/control/events.h"
#include "engine/event.h"

#define NAMES_MAX 64

static struct {
	char name[NAMES_MAX][32];
	unsigned n;
} types, causes;

static bool has(const char *name, bool cause)
{
	unsigned n = cause ? causes.n : types.n;

	for (unsigned i = 0; i < n; i++)
		if (strcmp(cause ? causes.name[i] : types.name[i], name) == 0)
			return true;
	return false;
}

/* Each type is the term of a .TP, in bold; each cause, after .SS Causes. */
static int read_manual(void **state)
{
	FILE *f = fopen(HP3D_MANUAL, "r");
	bool inside = false, cause = false, term = false;
	char line[1024], name[32];

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, ".SH ", 4) == 0)
			inside = strcmp(line, ".SH EVENTS\n") == 0;
		if (strncmp(line, ".SS ", 4) == 0)
			cause = strcmp(line, ".SS Causes\n") == 0;
		if (inside && term && sscanf(line, ".B %31s", name) == 1)
			strcpy(cause ? causes.name[causes.n++] : types.name[types.n++], name);
		term = strcmp(line, ".TP\n") == 0;
	}
	fclose(f);
	return 0;
}

static void every_type_is_there(void **state)
{
	for (int t = 0; t < HP3_EVENT_MAX; t++) {
		if (!has(hp3_event_name((enum hp3_event_type)t), false))
			fail_msg("hp3d.8, EVENTS: no \"%s\"",
				hp3_event_name((enum hp3_event_type)t));
	}
	assert_int_equal(types.n, HP3_EVENT_MAX);
}

static void every_cause_is_there(void **state)
{
	for (int c = 0; c < HP3_CAUSE_MAX; c++) {
		if (!has(hp3_cause_name((enum hp3_cause)c), true))
			fail_msg("hp3d.8, Causes: no \"%s\"", hp3_cause_name((enum hp3_cause)c));
	}
	assert_int_equal(causes.n, HP3_CAUSE_MAX);
}

/* What is done to a flow is told to the journal, and what is known of it to the log. */
static void every_type_is_told_but_pairings(void **state)
{
	for (int t = 0; t < HP3_EVENT_MAX; t++) {
		bool pairing = t == HP3_EVENT_PAIR || t == HP3_EVENT_UNPAIR;

		assert_int_equal(hp3d_record_priority((enum hp3_event_type)t) < 0, pairing);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_there),
		cmocka_unit_test(every_cause_is_there),
		cmocka_unit_test(every_type_is_told_but_pairings),
	};

	return cmocka_run_group_tests(tests, read_manual, NULL);
}
