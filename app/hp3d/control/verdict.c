/* SPDX-License-Identifier: BSD-3-Clause */
/* Since when the warnings of the answer to "health" exist, and what they amount to. */
#include <ctype.h>
#include <string.h>
#include <time.h>
#include "app/hp3d/control/health.h"

#define KEY_MAX  256u
#define UTC_TEXT sizeof("2026-01-31T23:59:59Z")
#define NS       1000000000ull

static const char *warning_text(json_t *warning, const char *key)
{
	const char *text = json_string_value(json_object_get(warning, key));

	return text != NULL ? text : "";
}

/*
 * The code and the text, without numbers that stand alone: these change while the warning stays the
 * same. Numbers in names, such as rail0, stay.
 */
static void write_key(json_t *warning, char key[KEY_MAX])
{
	const char *text = warning_text(warning, "text");
	size_t n = strnlen(warning_text(warning, "code"), KEY_MAX / 2);
	char before = ' ';

	memcpy(key, warning_text(warning, "code"), n);
	for (; *text != '\0' && n < KEY_MAX - 1; before = *text++) {
		if (isspace((unsigned char)before))
			text += strspn(text, "0123456789");
		if (*text == '\0')
			break;
		key[n++] = *text;
	}
	key[n] = '\0';
}

static void write_utc(uint64_t wall_ns, char buf[UTC_TEXT])
{
	time_t s = (time_t)(wall_ns / NS);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(buf, UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static uint64_t warning_number(json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

/* The times of this warning, which has the times `old` (NULL: it is new). */
static json_t *times_of(json_t *warning, json_t *old, uint64_t now_ns, uint64_t wall_ns)
{
	uint64_t count = warning_number(warning, "count");
	bool rose = old == NULL || count > warning_number(old, "count");

	return json_pack("{s:I, s:I, s:I}", "since",
		(json_int_t)(old != NULL ? warning_number(old, "since") : wall_ns), "rose",
		(json_int_t)(rose ? now_ns : warning_number(old, "rose")), "count",
		(json_int_t)count);
}

void hp3d_warnings_note(
	struct hp3d_warnings *known, json_t *list, uint64_t now_ns, uint64_t wall_ns)
{
	json_t *times = json_object(), *warning;
	size_t i;

	json_array_foreach (list, i, warning) {
		bool counted = json_object_get(warning, "count") != NULL;
		char key[KEY_MAX], utc[UTC_TEXT];
		json_t *t;

		write_key(warning, key);
		t = times_of(warning, json_object_get(known->times, key), now_ns, wall_ns);
		write_utc(warning_number(t, "since"), utc);
		json_object_set_new(warning, "since", json_string(utc));
		json_object_set_new(warning, "now",
			json_boolean(!counted ||
				     now_ns - warning_number(t, "rose") < HP3D_WARNING_NOW_NS));
		json_object_set_new(times, key, t);
	}
	json_decref(known->times);
	known->times = times;
}

void hp3d_warnings_free(struct hp3d_warnings *known)
{
	json_decref(known->times);
	known->times = NULL;
}

static bool exists_now(json_t *warnings, const char *code)
{
	json_t *warning;
	size_t i;

	json_array_foreach (warnings, i, warning)
		if (strcmp(warning_text(warning, "code"), code) == 0 &&
			json_is_true(json_object_get(warning, "now")))
			return true;
	return false;
}

const char *hp3d_health_status(json_t *warnings)
{
	static const char *const worst[] = {"lcore-hangs", "link-down", "direct", "silent"};
	static const char *const drops[] = {"hangs", "left-behind", "ring-full", "closed",
		"drop-handover", "drop-tx-full", "drop-too-long"};

	for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++)
		if (exists_now(warnings, worst[i]))
			return worst[i];
	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		if (exists_now(warnings, drops[i]))
			return "drops";
	return json_array_size(warnings) != 0 ? "warning" : "ok";
}
