/* SPDX-License-Identifier: BSD-3-Clause */
/* Small fabrics built by hand: planned moves, moves that are not planned, and the reasons; alarms.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "reports.h"

#define GBIT 1000000u

static struct hp3_fleet *fleet;
static struct hp3_fleet_plan plan;

static int begin(void **state)
{
	struct hp3_fleet_params p = small_fleet();

	fleet = make_fleet(&p);
	return fleet != NULL ? 0 : -1;
}

static int end(void **state)
{
	free(fleet);
	return 0;
}

static void take(const struct hp3_fleet_report *r, uint64_t now_ms)
{
	assert_int_equal(hp3_fleet_take(fleet, r, now_ms), 0);
}

static void look(uint64_t now_ms)
{
	hp3_fleet_look(fleet, now_ms);
	hp3_fleet_plan(fleet, 1, "p", now_ms, &plan);
}

static void mark(struct hp3_fleet_flow *f)
{
	f->marked_permille = 100;
}

/* Two elephants of two hosts meet on spine 0, spine 1 is free: one of them is to go. */
static void collision(struct hp3_fleet_report r[2])
{
	for (unsigned i = 0; i < 2; i++) {
		r[i] = host_report(i, 0, 2);
		mark(add_flow(&r[i], 10 + i, 100 + i, 0, (10 - i) * GBIT));
	}
}

static uint64_t load_of(unsigned leaf, unsigned spine, bool down)
{
	struct hp3_fleet_addr hop = spine_addr(spine);
	struct hp3_fleet_link l;
	char name[16];

	if (leaf == UINT32_MAX)
		name[0] = '\0';
	else
		snprintf(name, sizeof(name), "leaf%u", leaf);
	for (uint32_t i = 0; hp3_fleet_link_at(fleet, i, &l); i++)
		if (l.down == down && strcmp(l.leaf, name) == 0 &&
			hp3_fleet_addr_cmp(&l.hop, &hop) == 0)
			return l.load_kbps;
	return 0;
}

static enum hp3_fleet_verdict why(uint64_t now_ms)
{
	unsigned alt;
	uint64_t after;

	return hp3_fleet_why(fleet, 0, now_ms, &alt, &after);
}

static void one_of_two_is_to_go(void **state)
{
	struct hp3_fleet_report r[2];

	collision(r);
	take(&r[0], 0);
	take(&r[1], 0);
	look(0);
	assert_int_equal(load_of(0, 0, false), 19 * GBIT); /* as it is, not as planned */
	assert_int_equal(load_of(UINT32_MAX, 0, true), 19 * GBIT);
	assert_int_equal(plan.n_moves, 1);
	assert_string_equal(plan.move[0].host, "h0"); /* the heavier, for both leave 10 */
	assert_int_equal(plan.move[0].from_port, 0xc000);
	assert_int_equal(plan.move[0].to_port, 0xc001);
	assert_int_equal(plan.move[0].before_kbps, 19 * GBIT);
	assert_int_equal(plan.move[0].after_kbps, 10 * GBIT);
	assert_int_equal(plan.worst_before_kbps, 19 * GBIT);
	assert_int_equal(plan.worst_after_kbps, 10 * GBIT);
	assert_int_equal(why(0), HP3_FLEET_SETTLING);
	look(2999); /* it may still be applied */
	assert_int_equal(plan.n_moves, 0);
	look(3000); /* it was not: the other one, then */
	assert_int_equal(plan.n_moves, 1);
	assert_string_equal(plan.move[0].host, "h1");
}

static void nothing_without_evidence(void **state)
{
	struct hp3_fleet_report r[2];

	collision(r);
	r[0].flow[0].marked_permille = r[1].flow[0].marked_permille = 5;
	take(&r[0], 0);
	take(&r[1], 0);
	look(0);
	assert_int_equal(plan.n_moves, 0);
	assert_int_equal(why(0), HP3_FLEET_COOL);
	r[1].flow[0].flags |= HP3_FLEET_SEVERE;
	r[1].seq++;
	take(&r[1], 1000);
	look(1000);
	assert_int_equal(plan.n_moves, 1);
}

static void who_may_not_is_not_named(void **state)
{
	struct hp3_fleet_report r[2];

	collision(r);
	r[0].flow[0].flags = 0;
	r[1].flow[0].settled_ms = 29999;
	take(&r[0], 0);
	take(&r[1], 0);
	look(0);
	assert_int_equal(plan.n_moves, 0);
	assert_int_equal(why(0), HP3_FLEET_IMMOVABLE);
	r[0].flow[0].flags = HP3_FLEET_MOVABLE;
	r[0].flow[0].n_alts = 0;
	r[0].seq++;
	take(&r[0], 1000);
	look(1000);
	assert_int_equal(plan.n_moves, 0);
	assert_int_equal(why(1000), HP3_FLEET_NOWHERE);
	r[0].flow[0].hop = HP3_FLEET_NO_HOP;
	r[0].seq++;
	take(&r[0], 2000);
	look(2000);
	assert_int_equal(why(2000), HP3_FLEET_UNPLACED);
	assert_int_equal(hp3_fleet_counts(fleet)->unplaced, 1);
}

static void no_move_where_others_are_as_full(void **state)
{
	struct hp3_fleet_report r[2], other = host_report(2, 0, 2);

	collision(r);
	add_flow(&other, 12, 7, 1, 9 * GBIT);
	take(&r[0], 0);
	take(&r[1], 0);
	take(&other, 0);
	look(0);
	assert_int_equal(plan.n_moves, 0); /* 18 or 19 beside 19: less than a fifth is gained */
	assert_int_equal(why(0), HP3_FLEET_NO_GAIN);
}

/* A path that a host has asked, as advised, in vain is not named to it as long as it says so. */
static void what_was_asked_in_vain_is_not_named_again(void **state)
{
	struct hp3_fleet_report r[2];

	for (unsigned spines = 2; spines <= 3; spines++) {
		uint64_t at = spines * 100000;

		collision(r);
		r[0].n_hops = (uint8_t)spines;
		r[0].hop[2] = spine_addr(2);
		r[0].seq = r[1].seq = at;
		if (spines == 3)
			r[0].flow[0].alt[r[0].flow[0].n_alts++] = (struct hp3_fleet_alt){0xc002, 2};
		r[0].flow[0].advised = HP3_FLEET_DECLINED;
		r[0].flow[0].advised_port = 0xc001;
		r[1].flow[0].flags = 0;
		take(&r[0], at);
		take(&r[1], at);
		look(at);
		assert_int_equal(plan.n_moves, spines == 3);
		assert_int_equal(why(at), spines == 3 ? HP3_FLEET_SETTLING : HP3_FLEET_NO_BETTER);
		assert_int_equal(plan.move[0].to_port, spines == 3 ? 0xc002 : 0);
	}
	r[0].flow[0].advised = HP3_FLEET_REFUSED; /* too soon, perhaps */
	for (unsigned i = 0; i < 2; i++) {
		r[i].seq++;
		take(&r[i], 400000);
	}
	look(400000);
	assert_int_equal(plan.n_moves, 1);
	assert_int_equal(plan.move[0].to_port, 0xc001);
}

/* The destinations' leaves are known by their hosts' reports: the way down may be the full one. */
static void the_way_down_counts(void **state)
{
	struct hp3_fleet_report a = host_report(0, 0, 2), b = host_report(1, 1, 2),
				to = host_report(10, 5, 2);

	mark(add_flow(&a, 10, 1, 0, 9 * GBIT));
	mark(add_flow(&b, 10, 2, 0, 9 * GBIT));
	take(&a, 0);
	take(&b, 0);
	take(&to, 0);
	look(0);
	assert_int_equal(load_of(0, 0, false), 9 * GBIT);
	assert_int_equal(load_of(5, 0, true), 18 * GBIT);
	assert_int_equal(plan.n_moves, 1);
	assert_int_equal(plan.move[0].before_kbps, 18 * GBIT);
}

static void hosts_of_one_name_are_left_alone(void **state)
{
	struct hp3_fleet_report r[2], twin;
	struct hp3_fleet_host h;

	collision(r);
	twin = host_report(9, 0, 2);
	strcpy(twin.host, r[0].host);
	take(&r[0], 0);
	take(&r[1], 0);
	take(&twin, 0);
	look(0);
	assert_int_equal(hp3_fleet_counts(fleet)->twins, 2);
	assert_true(hp3_fleet_host_at(fleet, 0, &h) && h.twin);
	assert_int_equal(plan.n_moves, 1);
	assert_string_equal(plan.move[0].host, "h1");
	/* One of them falls silent, as a host does that has started anew: its name is one's again.
	 */
	r[0].seq++;
	take(&r[0], 3500);
	look(3500);
	assert_int_equal(hp3_fleet_counts(fleet)->twins, 0);
	assert_int_equal(hp3_fleet_counts(fleet)->hosts, 1);
}

static void old_and_full(void **state)
{
	struct hp3_fleet_report r = host_report(0, 0, 2);

	r.seq = 5;
	take(&r, 0);
	assert_int_equal(hp3_fleet_take(fleet, &r, 1), -EALREADY);
	r.seq = 4;
	assert_int_equal(hp3_fleet_take(fleet, &r, 1), -EALREADY);
	for (unsigned i = 1; i < 64; i++) {
		r = host_report(i, 0, 2);
		take(&r, 1);
	}
	r = host_report(64, 0, 2);
	assert_int_equal(hp3_fleet_take(fleet, &r, 1), -ENOSPC);
	look(5000); /* all are gone */
	assert_int_equal(hp3_fleet_counts(fleet)->hosts, 0);
	take(&r, 5000);
}

/* The links of a fabric that does not fit are said to be missing, and nobody is moved blindly. */
static void links_without_room(void **state)
{
	struct hp3_fleet_params p = small_fleet();
	struct hp3_fleet_report r[2];

	free(fleet);
	p.max_links = 3;
	fleet = make_fleet(&p);
	collision(r);
	strcpy(r[1].leaf, "elsewhere");
	take(&r[0], 0);
	take(&r[1], 0);
	look(0);
	assert_true(hp3_fleet_counts(fleet)->links_full > 0);
	look(1000);
	assert_true(hp3_fleet_counts(fleet)->links_full > 0);
}

static uint8_t level(unsigned leaf, unsigned spine)
{
	struct hp3_fleet_addr hop = spine_addr(spine);
	struct hp3_fleet_link l;
	uint8_t most = 0;

	for (uint32_t i = 0; hp3_fleet_link_at(fleet, i, &l); i++)
		if (hp3_fleet_addr_cmp(&l.hop, &hop) == 0 && l.level > most)
			most = l.level;
	return most;
}

/* One period above 500 marks is low, three in a row are middle. */
static void alarms_rise_and_end(void **state)
{
	static const uint8_t expected[] = {HP3_FLEET_QUIET, HP3_FLEET_LOW, HP3_FLEET_LOW,
		HP3_FLEET_MIDDLE, HP3_FLEET_MIDDLE, HP3_FLEET_QUIET, HP3_FLEET_LOW};
	static const unsigned marks[] = {0, 501, 501, 501, 501, 500, 501};
	struct hp3_fleet_report r = host_report(0, 0, 2);
	struct hp3_fleet_flow *f = add_flow(&r, 10, 1, 0, GBIT);
	uint64_t now = 0;

	f->marks = 123456; /* of the time before this planner: nobody's alarm */
	take(&r, now);
	look(now);
	for (unsigned i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		for (unsigned s = 1; s <= 10; s++) {
			now += 1000;
			f->marks += s == 5 ? marks[i] : 0;
			r.seq++;
			if (s % 3 != 0 || s == 9) /* the others get lost */
				take(&r, now);
			look(now);
		}
		assert_int_equal(level(0, 0), expected[i]);
	}
}

/* Five alarms of a switch within three periods. */
static void alarms_of_a_switch_add_up(void **state)
{
	struct hp3_fleet_report r[3];
	uint64_t now = 0;

	for (unsigned i = 0; i < 3; i++) {
		r[i] = host_report(i, i, 2);
		add_flow(&r[i], 20 + i, 1, 0, GBIT + i);
		take(&r[i], now);
	}
	look(now);
	for (unsigned period = 1; period <= 2; period++) {
		for (unsigned s = 1; s <= 10; s++) {
			now += 1000;
			for (unsigned i = 0; i < 3; i++) {
				r[i].seq++;
				r[i].flow[0].marks += 100;
				take(&r[i], now);
			}
			look(now);
		}
		/* The way down to the unknown leaf has them all: 1, then 2 alarms. */
		assert_int_equal(level(0, 0), HP3_FLEET_LOW);
	}
	for (unsigned i = 0; i < 3; i++) { /* their leaves are known: three links of one spine */
		struct hp3_fleet_report to = host_report(20 + i, 20 + i, 2);

		take(&to, now);
	}
	for (unsigned s = 1; s <= 10; s++) {
		now += 1000;
		for (unsigned i = 0; i < 3; i++) {
			r[i].seq++;
			r[i].flow[0].marks += 100;
			take(&r[i], now);
			struct hp3_fleet_report to = host_report(20 + i, 20 + i, 2);
			to.seq = now;
			take(&to, now);
		}
		look(now);
	}
	assert_int_equal(level(0, 0), HP3_FLEET_HIGH); /* two before, three now */
}

static void parameters_out_of_range(void **state)
{
	struct hp3_fleet_params p = small_fleet();

	p.max_hosts = 0;
	assert_int_equal(hp3_fleet_size(&p), 0);
	p = small_fleet();
	p.moves = HP3_FLEET_MOVES + 1;
	assert_int_equal(hp3_fleet_size(&p), 0);
	p = small_fleet();
	p.window_ms = 32 * p.period_ms;
	assert_int_equal(hp3_fleet_size(&p), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_of_two_is_to_go),
		T(nothing_without_evidence),
		T(who_may_not_is_not_named),
		T(no_move_where_others_are_as_full),
		T(what_was_asked_in_vain_is_not_named_again),
		T(the_way_down_counts),
		T(hosts_of_one_name_are_left_alone),
		T(old_and_full),
		T(links_without_room),
		T(alarms_rise_and_end),
		T(alarms_of_a_switch_add_up),
		T(parameters_out_of_range),
	};

	return cmocka_run_group_tests_name("fleet planner", tests, NULL, NULL);
}
