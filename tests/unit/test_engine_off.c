/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every entry of the engine's public headers, with every combination of features off: none crashes,
 * each returns the error that its header documents, and disabled features send nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "off_world.h"

#define MS 1000000ull

enum state { EMPTY, UNPAIRED, PAIRED, STATES };

/* The n-th combination of all words that switch something off; *n becomes 0 where there is one. */
static struct hp3_engine_config combination(uint32_t n)
{
	struct hp3_engine_config t;

	hp3_policy_defaults(&t);
	t.max_flows = 8;
	t.max_pairs = 2;
	t.max_moves = 4;
	t.hold_packets = 16;
	t.spray.flows = 4;
#define CHOICE(choices)                                                                            \
	(n % (choices));                                                                           \
	n /= (choices)
	t.words.probe = (uint8_t)CHOICE(4);
	t.words.mode = (uint8_t)CHOICE(3);
	t.words.watch = CHOICE(2);
	t.words.observe_probes = CHOICE(2);
	t.cc.mode = (uint8_t)CHOICE(3);
	t.spray.mode = (uint8_t)CHOICE(3);
	t.trace = CHOICE(2);
	t.unkeyed = CHOICE(2);
	t.filter.qpns = (uint8_t)CHOICE(2);
	t.verbs = CHOICE(2);
#undef CHOICE
	return hp3_policy_settled(&t);
}

#define COMBINATIONS (4u * 3 * 2 * 2 * 3 * 3 * 2 * 2 * 2 * 2)
#define EACH         (HP3_FEWER == 1 ? 1u : 7u) /* divides none of these */

/* What is off sends nothing. */
static void expect_nothing_of_what_is_off(const struct off_world *w, const char *entry)
{
	const struct hp3_engine_config *c = &w->cfg;

	assert_in_range(w->acts.n, 0, HP3_ACTS_MAX);
	for (uint32_t i = 0; i < w->acts.n; i++) {
		int kind = w->acts.act[i].kind;

		if ((!c->probing && (kind == HP3_ACT_PROBE || kind == HP3_ACT_REPORT)) ||
			(!c->trace && kind == HP3_ACT_TRACE) ||
			(c->spray.mode == HP3_SPRAY_MOVE &&
				(kind == HP3_ACT_DELIVER || kind == HP3_ACT_SHOW)) ||
			(c->unkeyed && kind == HP3_ACT_REPORT) ||
			(!c->verbs && (kind == HP3_ACT_SUSPEND || kind == HP3_ACT_MOVE ||
					      kind == HP3_ACT_RESUME)))
			fail_msg("%s: action %d of what is off", entry, kind);
	}
}

static void tick(struct off_world *w, const char *entry)
{
	w->now += MS;
	for (unsigned i = 0; i == 0 || (w->acts.more && i < 100); i++) {
		w->acts.n = 0;
		hp3_tick(w->e, w->now, &w->acts);
		expect_nothing_of_what_is_off(w, entry);
	}
	w->acts.n = 0;
}

static void begin(struct off_world *w, const struct off_entry *set_up, enum state state)
{
	w->now = 1000 * MS;
	w->flow = 0;
	w->acts.n = 0;
	w->e = hp3_engine_create(w->e, w->size, &w->cfg);
	assert_non_null(w->e);
	if (state == PAIRED)
		set_up->call(w);
	if (state != EMPTY) {
		off_request(w, 100);
		off_ack(w, 100);
	}
	w->acts.n = 0;
}

static const struct off_entry *entry_of(const char *name)
{
	for (unsigned i = 0; i < off_entry_count; i++)
		if (strcmp(off_entries[i].name, name) == 0)
			return &off_entries[i];
	fail_msg("no entry %s", name);
	return NULL;
}

/* Each entry twice: alone on a fresh engine, and after all entries before it. */
static void call_all(struct off_world *w, enum state state, bool alone)
{
	const struct off_entry *set_up = entry_of("hp3_qp");

	begin(w, set_up, state);
	for (unsigned i = 0; i < off_entry_count; i++) {
		const struct off_entry *entry = &off_entries[i];
		int promised = entry->promised(&w->cfg), is;

		if (alone)
			begin(w, set_up, state);
		w->acts.n = 0;
		is = entry->call(w);
		if (alone && state == PAIRED && promised != 0 && is != promised)
			fail_msg("%s returned %d, its header promises %d (probing %u, probes %u, "
				 "mode %u, cc %u, spray %u, trace %u, verbs %u)",
				entry->name, is, promised, w->cfg.probing, w->cfg.probes,
				w->cfg.words.mode, w->cfg.cc.mode, w->cfg.spray.mode, w->cfg.trace,
				w->cfg.verbs);
		expect_nothing_of_what_is_off(w, entry->name);
		w->acts.n = 0;
		w->flow = w->cfg.max_flows; /* there is none of that number */
		entry->call(w);
		w->flow = 0;
		tick(w, entry->name);
	}
}

static void every_entry_without_every_feature(void **state)
{
	struct off_world w = {.ends = {.local = "\12\11\0\1", .remote = "\12\11\0\2"}};
	uint32_t sound = 0;

	for (uint32_t n = 0; n < COMBINATIONS; n += EACH) {
		w.cfg = combination(n);
		w.size = hp3_engine_size(&w.cfg);
		w.e = aligned_alloc(64, w.size);
		memset(w.e, 0xa5, w.size);
		if (hp3_engine_create(w.e, w.size, &w.cfg) != NULL) {
			sound++;
			for (enum state s = EMPTY; s < STATES; s++) {
				call_all(&w, s, n % 16 == 0);
				call_all(&w, s, false);
			}
		}
		free(w.e);
	}
	assert_in_range(sound, COMBINATIONS / EACH / 2, COMBINATIONS);
	print_message("%u combinations\n", sound);
}

/* --- no entry is left out --- */

static bool has_entry(const char *name, size_t n)
{
	for (unsigned i = 0; i < off_entry_count; i++)
		for (const char *at = off_entries[i].name; (at = strstr(at, name)); at += n)
			if (at[n] == '\0' || at[n] == ' ')
				return true;
	return strcmp(name, "hp3_tick") == 0; /* after each of them */
}

/* A function declared in this line of a header. */
static bool declared(const char *line, char name[64])
{
	const char *at = strstr(line, "hp3_"), *end;

	if (!isalpha((unsigned char)line[0]) || strncmp(line, "static", 6) == 0)
		return false;
	for (; at != NULL; at = strstr(end, "hp3_")) {
		for (end = at; isalnum((unsigned char)*end) || *end == '_';)
			end++;
		if (*end == '(') {
			snprintf(name, 64, "%.*s", (int)(end - at), at);
			return true;
		}
	}
	return false;
}

static void no_entry_is_left_out(void **state)
{
	static const char *const headers[] = {"engine", "info", "policy", "event", "filter"};
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		char path[300], line[400], name[64];
		FILE *f;

		snprintf(path, sizeof(path), HP3_TEST_DATA "/../../engine/%s.h", headers[i]);
		f = fopen(path, "r");
		assert_non_null(f);
		while (fgets(line, sizeof(line), f) != NULL) {
			if (!declared(line, name))
				continue;
			n++;
			if (!has_entry(name, strlen(name)))
				fail_msg("%s is not in off_entries", name);
		}
		fclose(f);
	}
	assert_in_range(n, 60, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_entry_is_left_out),
		cmocka_unit_test(every_entry_without_every_feature),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
