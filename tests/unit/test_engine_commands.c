/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves by command: home, refusals, random ports, deadlines; equal seeds choose alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

static void home(void **state)
{
	draining(1);
	ack(&q, 100);
	assert_int_equal(hp3_engine_moved(rig.e), 1);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), 0);
	middle(&q, 102); /* closes */
	expect_left(2, 102, NEW_PORT, true);
	assert_int_equal(middle(&q, 103), HP3_HOLD);
	ack(&q, 102);
	expect_left(3, 103, q.home, false);
	assert_false(info(&q).moved);
	assert_int_equal(hp3_engine_moved(rig.e), 0);
	assert_int_equal(command(&q, HP3_CMD_HOME, 0), -EALREADY);
}

static void refusals(void **state)
{
	struct qp unpaired = make_qp(1), silent = make_qp(2), unknown = make_qp(3);
	static const int all[] = {EPERM, ENOENT, ENOLINK, EBUSY, EAGAIN, ENODATA, EALREADY, ENOSPC};

	rig.cfg.max_moves = 1;
	rig_configure();
	in_flight(2);
	middle(&unpaired, 5);
	set_up(&silent);
	assert_int_equal(move(&unknown, NEW_PORT), -ENOENT);
	assert_int_equal(command(&unknown, HP3_CMD_CANCEL, 0), -ENOENT);
	assert_int_equal(move(&unpaired, NEW_PORT), -ENOLINK);
	assert_int_equal(move(&silent, NEW_PORT), -ENODATA);
	assert_int_equal(move(&q, q.home), -EALREADY);
	rig_allow_moves(false);
	assert_int_equal(move(&q, NEW_PORT), -EPERM);
	rig_allow_moves(true);
	assert_int_equal(move(&q, NEW_PORT), 0);
	assert_int_equal(move(&q, NEW_PORT), -EBUSY);
	last(&silent, 1);
	assert_int_equal(move(&silent, NEW_PORT), -ENOSPC);
	ack(&q, 101);
	assert_int_equal(move(&q, NEW_PORT), -EALREADY);
	assert_int_equal(move(&silent, NEW_PORT), 0);
	assert_int_equal(stats()->moves_requested, 9);
	assert_int_equal(stats()->moves_refused, 7);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_string_not_equal(hp3_command_error(-all[i]), hp3_command_error(-EINVAL));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				hp3_command_error(-all[i]), hp3_command_error(-all[k]));
	}
}

static void random_ports(void **state)
{
	uint16_t was, seen = 0;

	q = make_qp(0);
	set_up(&q);
	last(&q, 0);
	ack(&q, 0);
	was = q.home;
	for (uint32_t i = 0; i < 1000; i++) {
		uint16_t port;

		assert_int_equal(move(&q, 0), 0);
		port = info(&q).port;
		assert_in_range(port, 0xc000, 0xffff);
		assert_int_not_equal(port, was);
		seen |= (uint16_t)(1u << (port >> 10 & 15));
		was = port;
	}
	assert_int_equal(seen, 0xffff);
	assert_int_equal(info(&q).moves, 255); /* and more */
	assert_int_equal(stats()->moves_idle, 1000);
}

/* Twenty drains end in the same tick: forty actions, in lists of sixteen. */
static void many_deadlines_at_once(void **state)
{
	uint64_t due;

	for (unsigned i = 0; i < 20; i++) {
		q = make_qp(i);
		set_up(&q);
		last(&q, 1);
		assert_int_equal(move(&q, NEW_PORT), 0);
		assert_int_equal(middle(&q, 2), HP3_HOLD);
	}
	due = hp3_tick(rig.e, rig.now, &(struct hp3_acts){0});
	assert_in_range(due, rig.now + 1, rig.now + rig.cfg.max_hold_ns);
	assert_int_equal(rig.nwire, 20);
	pass_time(rig.cfg.max_hold_ns);
	assert_int_equal(rig.nwire, 40);
	assert_int_equal(rig.events[HP3_EVENT_RECOVER], 20);
	assert_int_equal(hp3_engine_moves(rig.e), 0);
}

/* A deadline that is over does not make those forgotten that are not. */
static void deadlines_in_turn(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		q = make_qp(i);
		set_up(&q);
		last(&q, 1);
		assert_int_equal(move(&q, NEW_PORT), 0);
		rig.now += 100 * US;
	}
	pass_time(rig.cfg.max_hold_ns - 300 * US); /* since the first was moved: max_hold */
	for (unsigned i = 1; i <= 3; i++) {
		struct hp3_acts acts = {0};

		assert_int_equal(rig.events[HP3_EVENT_RECOVER], i);
		assert_int_equal(hp3_engine_moves(rig.e), 3 - i);
		assert_true(hp3_tick(rig.e, rig.now, &acts) <= rig.now + 110 * US || i == 3);
		assert_int_equal(acts.n, 0);
		pass_time(110 * US);
	}
}

/* A reload must not bring in what a start would have refused: arrays are sized by it. */
static void an_unsound_configuration_changes_nothing(void **state)
{
	struct hp3_engine_config cfg;

	probing_config();
	rig.cfg.setup_probing = true;
	rig_configure();
	cfg = rig.cfg;
	cfg.candidates = 200;
	cfg.close_timeout_ns = 1;
	hp3_engine_reconfigure(rig.e, &cfg);
	q = make_qp(0);
	assert_int_equal(set_up_at(&q, 1), 0);
	assert_int_equal(rig.nprobes, ASKED);
	cfg.candidates = 1;
	hp3_engine_reconfigure(rig.e, &cfg);
	assert_int_equal(tear_down(&q), 0);
	assert_int_equal(set_up_at(&q, 1), 0);
	assert_int_equal(rig.nprobes, ASKED + 2);
}

/* Two flows in lockstep: challenges and ports are drawn at random. */
static void script(void)
{
	rig.cfg.pair_by_challenge = true;
	rig_configure();
	for (uint32_t psn = 0; psn < 200; psn++) {
		for (unsigned i = 0; i < 2; i++) {
			q = make_qp(i);
			if (psn % 16 == 15)
				last(&q, psn);
			else
				middle(&q, psn);
			if ((rig.vd.flags & HP3_SET_ACKREQ) || psn % 16 == 15) {
				rig.now += 10 * US;
				ack(&q, psn);
				rig.now += 20 * US;
				move(&q, 0);
			}
		}
	}
	assert_true(info(&q).moves > 2);
}

static void same_seed_same_results(void **state)
{
	static struct rig first;

	script();
	first = rig;
	script();
	assert_int_equal(rig.nwire, first.nwire);
	assert_memory_equal(rig.wire, first.wire, sizeof(rig.wire));
	assert_memory_equal(rig.events, first.events, sizeof(rig.events));
	rig.cfg.seed++;
	script();
	assert_memory_not_equal(rig.wire, first.wire, sizeof(rig.wire));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(home),
		RIG_TEST(refusals),
		RIG_TEST(random_ports),
		RIG_TEST(many_deadlines_at_once),
		RIG_TEST(deadlines_in_turn),
		RIG_TEST(an_unsound_configuration_changes_nothing),
		RIG_TEST(same_seed_same_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
