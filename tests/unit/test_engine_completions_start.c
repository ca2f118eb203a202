/* SPDX-License-Identifier: BSD-3-Clause */
/* In verbs mode: a queue pair that begins on a slow path has no faster times to compare with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "scene.h"

#define HOME  0xd001
#define QUICK (50 * US) /* from post to completion, on an empty path */
#define QUEUE (100 * US) /* of the path in use */
#define POLL  (150 * US) /* from one poll of the queue pair to the next */

static uint32_t least; /* as whoever looks at completions knows it */

static void begins(void)
{
	rig.cfg.verbs = true;
	rig.cfg.move_wait_ns = 50 * US;
	probing_engine();
	least = UINT32_MAX;
}

static void work(uint32_t took_ns)
{
	if (took_ns != 0 && took_ns < least)
		least = took_ns;
	assert_int_equal(complete(&q, &(struct hp3_completions){.home = HOME,
					      .port = HOME,
					      .posted = 1000,
					      .done = 1000,
					      .posted_wrs = 1,
					      .done_wrs = 1,
					      .took_ns = took_ns,
					      .least_ns = least}),
		0);
}

static void works(uint32_t took_ns, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		work(took_ns);
		pass_time(POLL);
	}
}

static void answer(uint32_t first, bool own, bool ce)
{
	for (uint32_t i = first; i < rig.nprobes; i++)
		if ((rig.probe_ports[i] == HOME) == own)
			probe_reply(i, ce);
}

/* Probes from number `first` on: the one in use is answered `queue` later than the others. */
static void answers(uint32_t first, uint64_t queue)
{
	pass_time(RTT);
	answer(first, false, false);
	if (queue != 0)
		pass_time(queue);
	answer(first, true, false);
}

/* It works until something is asked, which others answer sooner, until it is to move. */
static void until_it_leaves(void)
{
	for (unsigned i = 0; i < 100 && rig.other.kind != HP3_ACT_SUSPEND; i++) {
		uint32_t first = rig.nprobes;

		work(QUICK + QUEUE);
		if (rig.nprobes == first)
			pass_time(POLL);
		if (rig.nprobes != first)
			answers(first, QUEUE);
	}
	assert_int_equal(rig.other.kind, HP3_ACT_SUSPEND);
}

static void start_config(void)
{
	probing_config();
	rig.cfg.setup_probing = true;
}

static void what_was_never_quick_is_asked_about(void **state)
{
	start_config();
	begins();
	work(0); /* nothing has completed */
	assert_int_equal(rig.nprobes, 0);
	work(QUICK + QUEUE);
	assert_int_equal(rig.nprobes, ASKED);
	answers(0, QUEUE);
	assert_int_equal(rig.newest[HP3_EVENT_ROUND].cause, HP3_CAUSE_SETUP);
	until_it_leaves();
	assert_int_equal(actuator(&q, HP3_ACTUATOR_DRAINED), 0);
	assert_int_equal(rig.other.kind, HP3_ACT_MOVE);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), 0);
	assert_int_equal(rig.newest[HP3_EVENT_SWITCH].cause, HP3_CAUSE_SETUP);
}

/* Once, and not where its path was chosen, or is not to be. */
static void it_is_asked_once(void **state)
{
	start_config();
	begins();
	work(QUICK);
	answers(0, 0);
	works(QUICK, 100);
	assert_int_equal(rig.nprobes, ASKED);
	assert_int_equal(seen(HP3_EVENT_SEVERE), 0);
	rig.cfg.setup_probing = false;
	begins();
	works(QUICK, 20);
	assert_int_equal(rig.nprobes, 0);
}

static void where_it_was_placed_nothing_is_asked(void **state)
{
	start_config();
	rig.cfg.verbs = true;
	rig_configure();
	q = make_qp(0);
	least = UINT32_MAX;
	assert_int_equal(set_up_at(&q, 100), 0);
	assert_int_equal(rig.nprobes, ASKED);
	probe_reply(0, false);
	assert_int_equal(actuator(&q, HP3_ACTUATOR_MOVED), -EINVAL); /* nobody waits for it */
	works(QUICK, 20);
	assert_int_equal(rig.nprobes, ASKED);
}

/* The re-probe that would have confirmed it found no better path: it is felt from now on. */
static void what_was_seen_is_the_measure(void **state)
{
	uint32_t first;

	start_config();
	begins();
	work(QUICK + QUEUE);
	answers(0, QUEUE);
	first = rig.nprobes;
	for (unsigned i = 0; i < 10 && rig.nprobes == first; i++)
		works(QUICK + QUEUE, 1);
	assert_true(rig.nprobes > first);
	answer(first, false, true);
	pass_time(RTT + QUEUE);
	answer(first, true, false);
	assert_int_equal(info(&q).state, HP3_RFR_STEADY);
	until_it_leaves();
	assert_int_equal(seen(HP3_EVENT_SEVERE), 1);
	assert_int_equal(rig.newest[HP3_EVENT_SEVERE].cause, HP3_CAUSE_COMPLETION);
}

/* Its path has become as good as the others. One search finds that, and then there is peace. */
static void what_has_passed_is_forgotten(void **state)
{
	start_config();
	begins();
	work(QUICK + QUEUE);
	answers(0, QUEUE);
	for (unsigned i = 0; i < 100; i++) {
		uint32_t first = rig.nprobes;

		works(QUICK, 1);
		if (rig.nprobes != first)
			answers(first, 0);
	}
	assert_int_not_equal(rig.other.kind, HP3_ACT_SUSPEND);
	assert_in_range(rig.nprobes, ASKED, 4 * ASKED);
	assert_false(info(&q).severe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(what_was_never_quick_is_asked_about),
		RIG_TEST(it_is_asked_once),
		RIG_TEST(where_it_was_placed_nothing_is_asked),
		RIG_TEST(what_was_seen_is_the_measure),
		RIG_TEST(what_has_passed_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
