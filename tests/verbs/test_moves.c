/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of queue pairs under load, with each method, and their failures. */
#include "tests/verbs/rig.h"

#include <errno.h>
#include <string.h>

#define PORT_A 0xd00d
#define PORT_B 0xc000

static struct hp3d hp3d;

static uint32_t ports_used(const struct app *a)
{
	uint32_t changes = 0;

	for (uint64_t i = 1; i < a->posted; i++)
		changes += a->fake->log[i].port != a->fake->log[i - 1u].port;
	return changes;
}

/* Two moves of a loaded queue pair: in order, nothing lost, on the ports that were asked for. */
static void move_loaded(enum provider provider, uint32_t chain, uint32_t every, int sig_all)
{
	struct app_options o = {.sig_all = sig_all};
	struct hp3_verbs_cell *c;
	struct runner r;
	struct app a;
	int detail = 0;

	app_start(&a, provider, &o);
	a.device->faults.delay_ns = 300000;
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	runner_start(&r, &a, chain, every);
	if (hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail) != HP3_VERBS_MOVED)
		fail_msg("provider %d, chains of %u, each %u-th signalled: %s", provider, chain,
			every, strerror(detail));
	runner_wait(&r, 20);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
	rig_sleep_us(1000);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_B, NULL), HP3_VERBS_MOVED);
	runner_wait(&r, 20);
	runner_end(&r);
	app_check_order(&a);
	assert_int_equal(a.errors, 0);
	assert_int_equal(ports_used(&a), 2);
	assert_int_equal(a.fake->log[a.posted - 1u].port, PORT_B);
	assert_int_equal(c->port, PORT_B);
	assert_int_equal(c->moves, 2);
	assert_int_equal(c->posted_wrs, a.posted);
	assert_int_equal(c->done_wrs, a.posted);
	assert_int_equal(c->done_bytes, a.posted * 1000u);
	assert_true(c->latency_min_ns[0] >= 300000 && c->latency_ns >= c->latency_min_ns[0]);
	app_stop(&a);
}

static void test_moved_under_load(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		move_loaded(p, 1, 1, 0);
		move_loaded(p, 3, 4, 0);
		move_loaded(p, 8, 16, 0);
		move_loaded(p, 2, 1, 1);
	}
}

/* Each refusal of the provider has a stated result, and the queue pair goes on on the old port. */
static void test_refusals(void **state)
{
	static const struct {
		enum provider provider;
		size_t fault;
		int error, detail;
		enum hp3_verbs_method then;
	} cases[] = {
		{MLX5, offsetof(struct fake_faults, sport), EOPNOTSUPP, EOPNOTSUPP, HP3_VERBS_SQD},
		{BNXT, offsetof(struct fake_faults, sport), EOPNOTSUPP, EOPNOTSUPP, HP3_VERBS_SQD},
		{MLX5, offsetof(struct fake_faults, sport), EINVAL, EINVAL, HP3_VERBS_SPORT},
		{BNXT, offsetof(struct fake_faults, sport), EINVAL, EINVAL, HP3_VERBS_SPORT},
		{BNXT, offsetof(struct fake_faults, sport), EIO, EIO, HP3_VERBS_SPORT},
		{MLX5, offsetof(struct fake_faults, sport), ENOMEM, ENOMEM, HP3_VERBS_SPORT},
		{MLX5, offsetof(struct fake_faults, sport), ENOSYS, ENOSYS, HP3_VERBS_SQD},
		{RXE, offsetof(struct fake_faults, sqd), EINVAL, EOPNOTSUPP, HP3_VERBS_NONE},
		{RXE, offsetof(struct fake_faults, sqd), EOPNOTSUPP, EOPNOTSUPP, HP3_VERBS_NONE},
		{RXE, offsetof(struct fake_faults, sqd), ENOMEM, ENOMEM, HP3_VERBS_SQD},
		{RXE, offsetof(struct fake_faults, turn), EINVAL, EINVAL, HP3_VERBS_SQD},
		{RXE, offsetof(struct fake_faults, turn), EOPNOTSUPP, EOPNOTSUPP, HP3_VERBS_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hp3_verbs_cell *c;
		struct runner r;
		struct app a;
		int detail = 0;

		app_start(&a, cases[i].provider, NULL);
		a.device->faults.delay_ns = 100000;
		c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
		runner_start(&r, &a, 1, 1);
		__atomic_store_n((int *)((char *)&a.device->faults + cases[i].fault),
			cases[i].error, __ATOMIC_RELAXED);
		assert_int_equal(
			hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, cases[i].detail);
		runner_end(&r);
		app_check_order(&a);
		assert_int_equal(a.errors, 0);
		assert_int_equal(ports_used(&a), 0);
		assert_int_equal(c->method, cases[i].then);
		app_stop(&a);
	}
}

/* The RNIC does not let it back into RTS: asked until it does; nothing is lost. */
static void test_late_return(void **state)
{
	struct hp3_verbs_cell *c;
	struct runner r;
	struct app a;

	app_start(&a, RXE, NULL);
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	runner_start(&r, &a, 1, 1);
	__atomic_store_n(&a.device->faults.rts, EIO, __ATOMIC_RELAXED);
	hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, NULL);
	rig_sleep_us(5000);
	__atomic_store_n(&a.device->faults.rts, 0, __ATOMIC_RELAXED);
	rig_sleep_us(5000);
	runner_end(&r);
	app_check_order(&a);
	assert_true(a.fake->kicks > 0);
	app_stop(&a);
}

/* Nothing is acknowledged any more: the move ends in time, and all goes on on the old port. */
static void test_late_completions(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct runner r;
		struct app a;
		int detail = 0;

		app_start(&a, p, NULL);
		c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
		runner_start(&r, &a, 1, 1);
		__atomic_store_n(&a.device->faults.stuck, true, __ATOMIC_RELAXED);
		rig_sleep_us(1000);
		assert_int_equal(
			hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
		/* or more was posted than fits, where that is known first */
		assert_true(detail == ETIMEDOUT || (p != RXE && detail == ENOBUFS));
		__atomic_store_n(&a.device->faults.stuck, false, __ATOMIC_RELAXED);
		runner_end(&r);
		app_check_order(&a);
		assert_int_equal(ports_used(&a), 0);
		app_stop(&a);
	}
}

/* Who waits for what has not left yet posts nothing, and so nothing has the RNIC look whether it
 * has drained. */
static void test_nobody_posts_while_it_drains(void **state)
{
	struct hp3_verbs_cell *c;
	struct app a;

	app_start(&a, RXE, NULL);
	a.device->faults.delay_ns = 20000000;
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	assert_int_equal(app_post(&a, 1, 2), 0); /* unsignalled */
	hp3d_want(&hp3d, c, HP3_VERBS_MOVE, PORT_A);
	rig_sleep_us(10000);
	assert_int_equal(app_post(&a, 1, 1), 0);
	assert_int_equal(a.fake->logged, 1);
	/* The RNIC drains. An application that reads the state of its queue pair sees no change. */
	assert_int_equal(a.fake->state, IBV_QPS_SQD);
	assert_int_equal(a.qp->state, IBV_QPS_RTS);
	assert_int_equal(hp3d_answer(&hp3d, c, NULL), HP3_VERBS_MOVED);
	assert_int_equal(a.qp->state, IBV_QPS_RTS);
	app_finish(&a);
	app_check_order(&a);
	assert_int_equal(a.fake->log[1].port, PORT_A);
	app_stop(&a);
}

/* The connection breaks at each step: every work request is flushed, or has left, in order. */
static void test_broken_in_between(void **state)
{
	void (*break_it)(struct fake_qp * q);

	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		app_start(&a, p, NULL);
		*(void **)&break_it = rig_fake_break(p);
		c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
		app_post(&a, 4, 1);
		app_finish(&a);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
		assert_int_equal(app_post(&a, 8, 2), 0);
		break_it(a.fake);
		assert_int_equal(app_post(&a, 1, 1), 0);
		for (int i = 0; i < 4000 && a.polled < 13; i++) {
			app_poll(&a);
			rig_sleep_us(500);
		}
		assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
		assert_true(detail == ETIMEDOUT || detail == EIO);
		assert_int_equal(a.polled, 13);
		assert_int_equal(a.errors, 9);
		assert_int_equal(a.fake->overtaken, 0);
		app_stop(&a);
	}
}

/* The same while it drains: what has left is flushed, and what is held behind it as well. */
static void test_broken_while_draining(void **state)
{
	void (*break_it)(struct fake_qp * q);

	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		app_start(&a, p, NULL);
		*(void **)&break_it = rig_fake_break(p);
		c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
		app_post(&a, 4, 1);
		app_finish(&a);
		__atomic_store_n(&a.device->faults.stuck, true, __ATOMIC_RELAXED);
		assert_int_equal(app_post(&a, 4, 2), 0);
		hp3d_want(&hp3d, c, HP3_VERBS_MOVE, PORT_A);
		rig_sleep_us(20000);
		assert_int_equal(app_post(&a, 4, 2), 0);
		assert_int_equal(a.fake->logged, 8); /* the newest ones wait */
		break_it(a.fake);
		assert_int_equal(app_post(&a, 1, 1), 0);
		__atomic_store_n(&a.device->faults.stuck, false, __ATOMIC_RELAXED);
		for (int i = 0; i < 4000 && a.polled < 13; i++) {
			app_poll(&a);
			rig_sleep_us(500);
		}
		assert_int_equal(hp3d_answer(&hp3d, c, &detail), HP3_VERBS_FAILED);
		assert_true(detail == ETIMEDOUT || detail == EIO);
		assert_int_equal(a.polled, 13);
		assert_int_equal(a.errors, 9);
		assert_int_equal(a.fake->overtaken, 0);
		assert_int_equal(c->port, c->home);
		app_stop(&a);
	}
}

/* Who is not to be moved, is not. */
static void test_refused(void **state)
{
	struct app_options reads = {.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	struct hp3_verbs_cell *c;
	struct app a;
	int detail = 0;

	app_start(&a, RXE, &reads);
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	assert_int_equal(c->flags, HP3_VERBS_RESPONDS);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, EPERM);
	app_stop(&a);

	app_start(&a, MLX5, NULL);
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, ENODATA);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, 80, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, EINVAL);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE_NOW, PORT_A, NULL), HP3_VERBS_MOVED);
	app_post(&a, 3, 3);
	app_finish(&a);
	app_check_order(&a);
	assert_int_equal(a.fake->log[0].port, PORT_A);
	app_stop(&a);
}

/* No hp3d that says what comes then, or one that changes its mind: back within the bound. */
static void test_suspended_for_good(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		app_start(&a, p, NULL);
		c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
		app_post(&a, 1, 1);
		app_finish(&a);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
		app_post(&a, 5, 2);
		assert_int_equal(a.fake->logged, 1);
		assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, ETIMEDOUT);
		app_finish(&a);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
		app_post(&a, 4, 2);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_RESUME, 0, NULL), HP3_VERBS_RESUMED);
		app_finish(&a);
		app_check_order(&a);
		assert_int_equal(ports_used(&a), 0);
		app_stop(&a);
	}
}

static int start(void **state)
{
	struct app a;

	rig_load();
	app_start(&a, RXE, NULL); /* the agent's thread begins to look for hp3d */
	hp3d_start(&hp3d, 300000, 300000);
	app_stop(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_under_load),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_late_return),
		cmocka_unit_test(test_late_completions),
		cmocka_unit_test(test_nobody_posts_while_it_drains),
		cmocka_unit_test(test_broken_in_between),
		cmocka_unit_test(test_broken_while_draining),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_suspended_for_good),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
