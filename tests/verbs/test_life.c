/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d and applications that end, fork, change their mind, use many threads and contexts. */
#include "tests/verbs/rig.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PORT 0xd00d

enum point { CONNECTED, ASKED, DRAINING, SUSPENDED, MOVING, MOVED, POINTS };

/* An hp3d that gets so far, says so, and is killed. */
static void get_to(enum point point, uint32_t qpn, int said)
{
	struct hp3_verbs_cell *c;
	struct hp3d h;

	hp3d_start(&h, 1000000, 1000000);
	c = hp3d_cell(&h, qpn, HP3_VERBS_RTS);
	if (point == ASKED || point == DRAINING)
		hp3d_want(&h, c, HP3_VERBS_SUSPEND, 0);
	if (point == DRAINING)
		rig_sleep_us(3000);
	if (point >= SUSPENDED)
		hp3d_do(&h, c, HP3_VERBS_SUSPEND, 0, NULL);
	if (point == MOVING)
		hp3d_want(&h, c, HP3_VERBS_MOVE, PORT);
	if (point == MOVED)
		hp3d_do(&h, c, HP3_VERBS_MOVE, PORT, NULL);
	if (write(said, "x", 1) == 1)
		pause();
	_exit(0);
}

static void kill_at(struct app *a, enum point point)
{
	struct timespec killed, now;
	uint64_t before;
	char byte;
	pid_t child;
	int said[2];

	app_post(a, 1, 1);
	app_finish(a);
	before = a->posted;
	if (point == DRAINING) {
		__atomic_store_n(&a->device->faults.stuck, true, __ATOMIC_RELAXED);
		app_post(a, 2, 1);
	}
	assert_int_equal(pipe(said), 0);
	child = fork();
	if (child == 0)
		get_to(point, a->qp->qp_num, said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	app_post(a, 5, 1);
	kill(child, SIGKILL);
	clock_gettime(CLOCK_MONOTONIC, &killed);
	waitpid(child, NULL, 0);
	close(said[0]);
	close(said[1]);
	app_post(a, 5, 1);
	__atomic_store_n(&a->device->faults.stuck, false, __ATOMIC_RELAXED);
	app_finish(a);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec - killed.tv_sec + (now.tv_nsec - killed.tv_nsec) / 1e9 < 0.8);
	assert_true(a->posted >= before + 10u);
	app_check_order(a);
	assert_int_equal(a->polled, a->posted);
	assert_int_equal(a->errors, 0);
	assert_int_equal(a->qp->state, IBV_QPS_RTS);
}

/* HP3_TEST_KILLS: times for each state of a move and method; a round takes a tenth of a second. */
static void test_hp3d_killed(void **state)
{
	int times = getenv("HP3_TEST_KILLS") != NULL ? atoi(getenv("HP3_TEST_KILLS")) : 1;

	for (enum provider p = RXE; p < BNXT; p++) {
		struct app a;

		app_start(&a, p, NULL);
		for (int i = 0; i < times; i++)
			for (enum point point = CONNECTED; point < POINTS; point++)
				kill_at(&a, point);
		app_stop(&a);
	}
}

/* Destroyed, put in error, reset, changed at once with a move under way. */
static void test_application_changes_its_mind(void **state)
{
	struct hp3d h;

	for (int what = 0; what < 8; what++) {
		struct ibv_qp_attr attr = {.qp_state = what < 4 ? IBV_QPS_ERR : IBV_QPS_RESET};
		struct hp3_verbs_cell *c;
		int detail = 0;
		struct app a;

		app_start(&a, what % 2 ? MLX5 : RXE, NULL);
		if (what == 0)
			hp3d_start(&h, 100000, 100000);
		c = hp3d_cell(&h, a.qp->qp_num, HP3_VERBS_RTS);
		app_post(&a, 1, 1);
		app_finish(&a);
		assert_int_equal(hp3d_do(&h, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
		app_post(&a, 4, 1);
		if (what < 2) { /* changed: waits for the end of the move */
			attr.qp_state = IBV_QPS_RTS;
			assert_int_equal(verbs.modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
			app_finish(&a);
			app_check_order(&a);
		} else if (what < 6) {
			assert_int_equal(verbs.modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
			assert_int_equal(hp3d_after_drained(&h, c, &detail), HP3_VERBS_FAILED);
			assert_int_equal(detail, ECANCELED);
			app_poll(&a);
			assert_int_equal(a.errors, what < 4 ? 4 : 0);
			if (what >= 4) { /* from the beginning, with the same number */
				app_ready(&a, 0);
				a.fake->logged = 0;
				a.posted = a.polled = a.due = 0;
				app_post(&a, 3, 1);
				app_finish(&a);
				app_check_order(&a);
				assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, PORT, NULL),
					HP3_VERBS_MOVED);
			}
		}
		app_stop(&a);
	}
	hp3d_stop(&h);
}

static unsigned posting; /* threads */

static void *post_some(void *of)
{
	struct app *a = of, mine = *a;

	for (int i = 0; i < 3000; i++) {
		mine.posted = mine.due = 0;
		if (app_post(&mine, 1, i % 3 == 0 ? 1 : 64) != 0)
			i--;
		rig_sleep_us(10);
	}
	__atomic_fetch_sub(&posting, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *poll_some(void *of)
{
	struct app *a = of;
	struct ibv_wc wc[8];

	while (!__atomic_load_n(&a->errors, __ATOMIC_RELAXED))
		if (ibv_poll_cq(a->cq, 8, wc) == 0)
			rig_sleep_us(20);
	return NULL;
}

/* Four threads post on one queue pair, two poll, it is moved all the time. How often while they
 * post. */
static uint32_t moved_under_threads(enum provider p)
{
	struct app_options o = {.depth = 512};
	struct hp3_verbs_cell *c;
	pthread_t post[4], poll[2];
	uint32_t moves = 0;
	struct hp3d h;
	struct app a;

	app_start(&a, p, &o);
	a.device->faults.delay_ns = 50000;
	hp3d_start(&h, 20000, 20000);
	c = hp3d_cell(&h, a.qp->qp_num, HP3_VERBS_RTS);
	posting = 4;
	for (int i = 0; i < 4; i++)
		pthread_create(&post[i], NULL, post_some, &a);
	for (int i = 0; i < 2; i++)
		pthread_create(&poll[i], NULL, poll_some, &a);
	for (uint16_t i = 0; i < 20; i++) {
		bool moved = hp3d_do(&h, c, HP3_VERBS_MOVE, (uint16_t)(0xd000 + i), NULL) ==
			     HP3_VERBS_MOVED;

		moves += moved && __atomic_load_n(&posting, __ATOMIC_RELAXED) > 0;
	}
	for (int i = 0; i < 4; i++)
		pthread_join(post[i], NULL);
	for (int i = 0; i < 10000 && a.fake->acked != 12000; i++)
		rig_sleep_us(100);
	__atomic_store_n(&a.errors, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(poll[i], NULL);
	assert_int_equal(a.fake->overtaken, 0);
	assert_int_equal(a.fake->logged, 12000);
	app_stop(&a);
	hp3d_stop(&h);
	return moves;
}

/* Nothing is overtaken. On a busy machine all may have been posted before hp3d's turn comes: again.
 */
static void test_threads(void **state)
{
	for (enum provider p = RXE; p < BNXT; p++) {
		uint32_t moves = 0;

		for (int tries = 0; moves == 0 && tries < 5; tries++)
			moves = moved_under_threads(p);
		assert_true(moves > 0);
	}
}

/* Four queue pairs of one context, a thread each, one completion queue that two threads poll; all
 * are moved, in turn. */
static void test_threads_of_one_context(void **state)
{
	enum { N = 4 };

	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct app_options o = {.depth = 512};
		struct hp3_verbs_cell *c[N];
		pthread_t post[N], poll[2];
		uint32_t moves[N] = {0};
		struct app a[N];
		struct hp3d h;

		app_start(&a[0], p, &o);
		for (int i = 1; i < N; i++)
			app_share(&a[i], &a[0], &o);
		a[0].device->faults.delay_ns = 50000;
		hp3d_start(&h, 20000, 20000);
		for (int i = 0; i < N; i++)
			c[i] = hp3d_cell(&h, a[i].qp->qp_num, HP3_VERBS_RTS);
		for (int i = 0; i < N; i++)
			pthread_create(&post[i], NULL, post_some, &a[i]);
		for (int i = 0; i < 2; i++)
			pthread_create(&poll[i], NULL, poll_some, &a[0]);
		for (uint16_t i = 0; i < 40; i++)
			moves[i % N] += hp3d_do(&h, c[i % N], HP3_VERBS_MOVE,
						(uint16_t)(0xd000 + i), NULL) == HP3_VERBS_MOVED;
		for (int i = 0; i < N; i++)
			pthread_join(post[i], NULL);
		for (int i = 0; i < N; i++)
			for (int n = 0; n < 10000 && a[i].fake->acked != 3000; n++)
				rig_sleep_us(100);
		__atomic_store_n(&a[0].errors, 1, __ATOMIC_RELAXED);
		for (int i = 0; i < 2; i++)
			pthread_join(poll[i], NULL);
		for (int i = 0; i < N; i++) {
			assert_true(moves[i] > 0);
			assert_int_equal(a[i].fake->overtaken, 0);
			assert_int_equal(a[i].fake->logged, 3000);
		}
		for (int i = 1; i < N; i++)
			assert_int_equal(verbs.destroy_qp(a[i].qp), 0);
		app_stop(&a[0]);
		hp3d_stop(&h);
	}
}

static void *post_unsignalled(void *of)
{
	struct app mine = *(struct app *)of;

	app_post(&mine, 1, 64);
	return NULL;
}

/*
 * Two threads post at once, and the provider takes them in the other order: the completion of the
 * one that was counted last says nothing of the other one, which is still on its way.
 */
static void test_other_order(void **state)
{
	struct hp3_verbs_cell *c;
	pthread_t thread;
	struct hp3d h;
	struct app a;
	int detail = 0;

	app_start(&a, MLX5, NULL);
	hp3d_start(&h, 50000, 50000);
	c = hp3d_cell(&h, a.qp->qp_num, HP3_VERBS_RTS);
	__atomic_store_n(&a.device->faults.late, true, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, post_unsignalled, &a);
	rig_sleep_us(20000);
	app_post(&a, 1, 1);
	app_finish(&a);
	__atomic_store_n(&a.device->faults.stuck, true, __ATOMIC_RELEASE);
	__atomic_store_n(&a.device->faults.late, false, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, PORT, &detail), HP3_VERBS_FAILED);
	assert_int_equal(detail, ETIMEDOUT);
	assert_int_equal(a.fake->overtaken, 0);
	app_stop(&a);
	hp3d_stop(&h);
}

/* The end of our drain is no event of the application's, which sees its queue pair in RTS. */
static void test_unseen(void **state)
{
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;
	struct ibv_qp_attr attr = {0};
	struct hp3_verbs_cell *c;
	struct hp3d h;
	struct app a;

	app_start(&a, RXE, NULL);
	hp3d_start(&h, 0, 1000000);
	c = hp3d_cell(&h, a.qp->qp_num, HP3_VERBS_RTS);
	assert_int_equal(hp3d_do(&h, c, HP3_VERBS_SUSPEND, 0, NULL), HP3_VERBS_DRAINED);
	assert_int_equal(a.fake->drained_events, 1);
	assert_int_equal(verbs.query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(a.qp->state, IBV_QPS_RTS);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(verbs.get_async_event(a.context, &event), -1);
	assert_int_equal(a.fake->drained_events, 0);
	assert_int_equal(hp3d_do(&h, c, HP3_VERBS_MOVE, 0xc000, NULL), HP3_VERBS_MOVED);
	assert_int_equal(a.fake->port, 0xc000);
	app_stop(&a);
	hp3d_stop(&h);
}

/* Many contexts at once, and again after they were closed; with a cell for each queue pair. */
static void test_many_contexts(void **state)
{
	enum { N = 40 };
	static struct app apps[N];
	struct hp3d h;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++)
			app_start(&apps[i], i % PROVIDERS, NULL);
		if (round == 0)
			hp3d_start(&h, 0, 0);
		for (int i = 0; i < N; i++) {
			struct hp3_verbs_cell *c = hp3d_cell(&h, apps[i].qp->qp_num, HP3_VERBS_RTS);

			assert_non_null(c);
			assert_int_equal(c->dest_qpn, 0x77);
			assert_int_equal(c->sgid[15], 1);
			assert_string_equal(c->device, "fake0");
			app_post(&apps[i], 4, 2);
			app_finish(&apps[i]);
			assert_int_equal(c->done_wrs, 4);
			assert_int_equal(
				hp3d_do(&h, c, HP3_VERBS_MOVE, PORT, NULL), HP3_VERBS_MOVED);
		}
		for (int i = 0; i < N; i++)
			app_stop(&apps[i]);
	}
	hp3d_stop(&h);
}

/* The parent's is the parent's; a child makes queue pairs of its own, and is found by hp3d. */
static void test_fork(void **state)
{
	struct app a;
	int status;
	pid_t child;

	app_start(&a, MLX5, NULL);
	app_post(&a, 2, 1);
	child = fork();
	if (child == 0) {
		struct hp3_verbs_cell *c;
		struct hp3d h;
		struct app b;
		char own[200];

		snprintf(own, sizeof(own), "%s.child", getenv("HP3_VERBS_SOCKET"));
		setenv("HP3_VERBS_SOCKET", own, 1); /* the parent looks for one as well */
		app_post(&a, 1, 1);
		app_start(&b, MLX5, NULL);
		hp3d_start(&h, 0, 0);
		c = hp3d_cell(&h, b.qp->qp_num, HP3_VERBS_RTS);
		app_post(&b, 1, 1);
		app_finish(&b);
		unlink(own);
		_exit(h.hello.pid == (uint32_t)getpid() && a.fake->logged == 3 &&
					hp3d_do(&h, c, HP3_VERBS_MOVE, PORT, NULL) ==
						HP3_VERBS_MOVED
				? 0
				: 1);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);
}

/* Closed by who opened it, with a context still in use. */
static void test_dlclose(void **state)
{
	struct app a;

	app_start(&a, RXE, NULL);
	assert_int_equal(dlclose(verbs.library), 0);
	app_post(&a, 4, 1);
	app_finish(&a);
	app_check_order(&a);
	app_stop(&a);
}

static int start(void **state)
{
	rig_load();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_application_changes_its_mind),
		cmocka_unit_test(test_hp3d_killed),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_of_one_context),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_many_contexts),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_dlclose),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
