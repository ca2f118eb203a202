/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs whose peer may READ (rule 20): their port is chosen with RTR, and they move while the
 * peer's queue pair is held. Queue pairs that are held for a move of the peer. */
#include "tests/verbs/rig.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PORT_A   0xd00d
#define HOLD_MS  60u
#define LONG_MS  1000u
#define HELD_MS  300u
#define PLACE_US 9000u

static struct hp3d hp3d;
static const struct app_options reads = {
	.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
/* more posts than the library can hold */
static const struct app_options deep = {
	.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, .depth = 512};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static struct hp3_verbs_cell *start_app(struct app *a, enum provider p)
{
	struct hp3_verbs_cell *c;

	app_start(a, p, &reads);
	c = hp3d_cell(&hp3d, a->qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	assert_int_equal(c->flags, HP3_VERBS_RESPONDS);
	app_post(a, 1, 1);
	app_finish(a);
	return c;
}

static void stop_app(struct app *a)
{
	app_finish(a);
	app_check_order(a);
	assert_int_equal(a->errors, 0);
	app_stop(a);
}

static void test_moved_while_the_peer_is_held(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		c = start_app(&a, p);
		assert_int_equal(
			hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, EPERM);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND_HELD, LONG_MS, NULL),
			HP3_VERBS_DRAINED);
		app_post(&a, 3, 1);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, NULL), HP3_VERBS_MOVED);
		assert_int_equal(c->port, PORT_A);
		stop_app(&a);
	}
}

/*
 * A queue pair that drains for ever: in each round, the library's thread asks the RNIC about it. So
 * a test that has this queue pair's lock stops the library's thread.
 */
static void start_brake(struct app *a)
{
	struct hp3_verbs_cell *c;

	app_start(a, RXE, NULL);
	c = hp3d_cell(&hp3d, a->qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	__atomic_store_n(&a->device->faults.stuck, true, __ATOMIC_RELAXED);
	app_post(a, 1, 1);
	hp3d_want(&hp3d, c, HP3_VERBS_SUSPEND, 0);
}

static void stop_brake(struct app *a)
{
	__atomic_store_n(&a->device->faults.stuck, false, __ATOMIC_RELAXED);
	stop_app(a);
}

/* The peer is held no longer: the queue pair stays on its port. */
static void test_a_late_move_fails(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a, brake;
		int detail = 0;

		c = start_app(&a, p);
		start_brake(&brake);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND_HELD, HOLD_MS, NULL),
			HP3_VERBS_DRAINED);
		pthread_mutex_lock(&brake.fake->lock);
		rig_sleep_us(HOLD_MS * 2000u);
		hp3d_want(&hp3d, c, HP3_VERBS_MOVE, PORT_A);
		pthread_mutex_unlock(&brake.fake->lock);
		assert_int_equal(hp3d_answer(&hp3d, c, &detail), HP3_VERBS_FAILED);
		/* EPERM: the library's thread ended the suspension before the test stopped it */
		assert_true(detail == ETIMEDOUT || detail == EPERM);
		assert_int_not_equal(c->port, PORT_A);
		stop_brake(&brake);
		stop_app(&a);
	}
}

/* A MOVE before the drain has ended would not know whether the peer is still held. */
static void test_no_move_while_it_drains(void **state)
{
	struct hp3_verbs_cell *c;
	struct app a;
	int detail = 0;

	c = start_app(&a, RXE);
	__atomic_store_n(&a.device->faults.stuck, true, __ATOMIC_RELAXED);
	app_post(&a, 1, 1);
	hp3d_want(&hp3d, c, HP3_VERBS_SUSPEND_HELD, HOLD_MS);
	rig_sleep_us(1000);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
	assert_true(detail == EBUSY || detail == EPERM); /* EPERM: SUSPEND_HELD was not read */
	__atomic_store_n(&a.device->faults.stuck, false, __ATOMIC_RELAXED);
	assert_int_not_equal(c->port, PORT_A);
	stop_app(&a);
}

static struct hp3_verbs_cell *hold_app(struct app *a, enum provider p, uint16_t ms)
{
	struct hp3_verbs_cell *c = start_app(a, p);

	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_HOLD, ms, NULL), HP3_VERBS_DRAINED);
	app_post(a, 3, 1);
	assert_true(a->fake->logged == 1 || ms < LONG_MS);
	return c;
}

static void test_held_for_the_peer(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		c = hold_app(&a, p, LONG_MS);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_RESUME, 0, NULL), HP3_VERBS_RESUMED);
		stop_app(&a);

		c = hold_app(&a, p, LONG_MS); /* only the peer moves */
		assert_int_equal(
			hp3d_do(&hp3d, c, HP3_VERBS_MOVE, PORT_A, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, EBUSY);
		assert_int_not_equal(c->port, PORT_A);
		stop_app(&a);

		c = hold_app(&a, p, 20); /* without RESUME */
		assert_int_equal(hp3d_after_drained(&hp3d, c, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, ETIMEDOUT);
		stop_app(&a);
	}
}

/* A command that was not read is replaced. The next one begins anew, with its own time. */
static void test_a_new_command_begins_anew(void **state)
{
	for (enum provider p = RXE; p < PROVIDERS; p++) {
		struct hp3_verbs_cell *c;
		struct app a;
		int detail = 0;

		c = hold_app(&a, p, LONG_MS);
		assert_int_equal(
			hp3d_do(&hp3d, c, HP3_VERBS_SUSPEND, 0, &detail), HP3_VERBS_FAILED);
		assert_int_equal(detail, EPERM);
		stop_app(&a);
		c = hold_app(&a, p, LONG_MS);
		hp3d_want(&hp3d, c, HP3_VERBS_HOLD, 20);
		app_finish(&a); /* what was held before */
		assert_int_equal(hp3d_after_drained(&hp3d, c, NULL), HP3_VERBS_FAILED);
		stop_app(&a);
	}
}

/* A server that only answers READs stays in RTR. Its change to RTS waits for the end of the hold.
 */
static void hold_in_rtr(struct app *a, uint16_t ms)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .qp_access_flags = reads.access};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
	struct hp3_verbs_cell *c;

	start_app(a, RXE);
	assert_int_equal(verbs.modify_qp(a->qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(verbs.modify_qp(a->qp, &init, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	assert_int_equal(verbs.modify_qp(a->qp, &rtr, IBV_QP_STATE), 0);
	c = hp3d_cell(&hp3d, a->qp->qp_num, HP3_VERBS_RTR);
	assert_non_null(c);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_HOLD, ms, NULL), HP3_VERBS_DRAINED);
}

static void end_in_rts(struct app *a)
{
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};

	assert_int_equal(verbs.modify_qp(a->qp, &rts, IBV_QP_STATE), 0);
	assert_int_equal(a->qp->state, IBV_QPS_RTS);
	app_stop(a);
}

static void test_held_in_rtr(void **state)
{
	uint64_t begun = now_ms();
	struct app a;

	hold_in_rtr(&a, HOLD_MS);
	end_in_rts(&a);
	assert_true(now_ms() - begun >= HOLD_MS);
}

/* Without hp3d, the library's bounds of other moves are shorter than this hold. */
static void test_held_in_rtr_after_hp3d_has_ended(void **state)
{
	uint64_t begun = now_ms();
	struct app a;
	char end;

	hold_in_rtr(&a, LONG_MS);
	shutdown(hp3d.connection, SHUT_WR);
	assert_int_equal(recv(hp3d.connection, &end, sizeof(end), 0), 0); /* the library has left */
	hp3d_stop(&hp3d);
	end_in_rts(&a);
	assert_true(now_ms() - begun >= LONG_MS);
	hp3d_start_placing(&hp3d, 1000000, 1000000, PLACE_US);
}

/* hp3d's promise to the peer outlives hp3d. The library does not connect to another hp3d before. */
static void test_held_after_hp3d_has_ended(void **state)
{
	for (enum provider p = RXE; p < BNXT; p++) {
		uint64_t begun = now_ms();
		struct app a;

		hold_app(&a, p, HELD_MS);
		hp3d_stop(&hp3d);
		hp3d_start_placing(&hp3d, 1000000, 1000000, PLACE_US);
		assert_true(now_ms() - begun >= HELD_MS);
		stop_app(&a);
	}
}

struct flood {
	struct app *app;
	pthread_t thread;
	int done; /* atomic */
};

static void *post_beyond_the_pool(void *arg)
{
	struct flood *f = arg;

	for (unsigned i = 0; i < 5; i++)
		app_post(f->app, 60, 4);
	__atomic_store_n(&f->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* A post that waits for the end of a hold stops neither other queue pairs nor the command RESUME.
 */
static void test_waiting_posts_stop_nothing_else(void **state)
{
	struct hp3_verbs_cell *c, *other_cell;
	struct app a, other;
	struct flood f = {.app = &a};
	uint64_t begun;

	other_cell = start_app(&other, MLX5);
	app_start(&a, MLX5, &deep);
	c = hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS);
	assert_non_null(c);
	app_post(&a, 1, 1);
	app_finish(&a);
	begun = now_ms();
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_HOLD, LONG_MS, NULL), HP3_VERBS_DRAINED);
	pthread_create(&f.thread, NULL, post_beyond_the_pool, &f);
	while (__atomic_load_n(&a.posted, __ATOMIC_RELAXED) < 241)
		rig_sleep_us(100);
	for (unsigned i = 0; i < 10; i++) { /* meanwhile, the thread begins to wait */
		assert_int_equal(hp3d_do(&hp3d, other_cell, HP3_VERBS_HOLD, LONG_MS, NULL),
			HP3_VERBS_DRAINED);
		assert_int_equal(
			hp3d_do(&hp3d, other_cell, HP3_VERBS_RESUME, 0, NULL), HP3_VERBS_RESUMED);
	}
	assert_int_equal(__atomic_load_n(&f.done, __ATOMIC_ACQUIRE), 0);
	hp3d_want(&hp3d, c, HP3_VERBS_RESUME, 0);
	pthread_join(f.thread, NULL);
	assert_true(now_ms() - begun < LONG_MS);
	assert_int_equal(hp3d_answer(&hp3d, c, NULL), HP3_VERBS_RESUMED);
	stop_app(&a);
	stop_app(&other);
}

/* More posts than the library can hold wait for the end of the hold. */
static void test_posts_beyond_the_pool_wait(void **state)
{
	uint64_t begun;
	struct app a;

	app_start(&a, MLX5, &deep);
	assert_non_null(hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS));
	app_post(&a, 1, 1);
	app_finish(&a);
	begun = now_ms();
	assert_int_equal(hp3d_do(&hp3d, hp3d_cell(&hp3d, a.qp->qp_num, HP3_VERBS_RTS),
				 HP3_VERBS_HOLD, HOLD_MS, NULL),
		HP3_VERBS_DRAINED);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(app_post(&a, 60, 4), 0);
		assert_true(a.fake->logged == 1 || now_ms() - begun >= HOLD_MS);
	}
	assert_true(now_ms() - begun >= HOLD_MS);
	stop_app(&a);
}

/* --- the port is chosen with RTR --- */

struct starter {
	struct app app;
	enum provider provider;
	const struct app_options *options;
	pthread_t thread;
};

static void *start_in_thread(void *arg)
{
	struct starter *s = arg;

	app_start(&s->app, s->provider, s->options);
	return NULL;
}

static struct hp3_verbs_cell *cell_in_rtr(uint8_t flags)
{
	for (int tries = 0; tries < 20000; tries++) {
		for (uint32_t i = 0; i < hp3d.hello.cells; i++) {
			struct hp3_verbs_cell *c = &hp3d.cells[i];

			if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == HP3_VERBS_RTR &&
				c->flags == flags)
				return c;
		}
		rig_sleep_us(50);
	}
	return NULL;
}

static void test_placed_with_rtr(void **state)
{
	for (enum provider p = RXE; p < BNXT; p++) {
		struct starter s = {.provider = p, .options = &reads};
		struct hp3_verbs_cell *c;

		pthread_create(&s.thread, NULL, start_in_thread, &s);
		c = cell_in_rtr(HP3_VERBS_RESPONDS | HP3_VERBS_WAITS);
		assert_non_null(c);
		assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_PLACE, PORT_A, NULL), HP3_VERBS_MOVED);
		pthread_join(s.thread, NULL);
		assert_int_equal(c->flags, HP3_VERBS_RESPONDS);
		assert_int_equal(c->port, PORT_A);
		assert_int_not_equal(c->home, PORT_A);
		assert_int_equal(s.app.fake->rtr_port, PORT_A); /* before the peer can READ */
		app_post(&s.app, 3, 1);
		app_finish(&s.app);
		assert_int_equal(s.app.fake->log[0].port, PORT_A);
		stop_app(&s.app);
	}
}

/* A hold begins while the change to RTS waits for PLACE: it also waits for the end of the hold. */
static void test_held_before_rts(void **state)
{
	struct starter s = {.provider = RXE};
	struct hp3_verbs_cell *c;
	uint64_t begun = now_ms();

	pthread_create(&s.thread, NULL, start_in_thread, &s);
	c = cell_in_rtr(0);
	assert_non_null(c);
	assert_int_equal(hp3d_do(&hp3d, c, HP3_VERBS_HOLD, HOLD_MS, NULL), HP3_VERBS_DRAINED);
	pthread_join(s.thread, NULL);
	app_post(&s.app, 1, 1);
	app_finish(&s.app);
	assert_true(now_ms() - begun >= HOLD_MS);
	stop_app(&s.app);
}

struct changer {
	struct ibv_qp *qp;
	struct ibv_qp_attr *attr;
	int mask, error;
	pthread_t thread;
};

static void *change_in_thread(void *arg)
{
	struct changer *c = arg;

	c->error = verbs.modify_qp(c->qp, c->attr, c->mask);
	return NULL;
}

/*
 * While the library waits for a port, hp3d holds the queue pair. Then the RNIC refuses RTR: the
 * hold ends, and the queue pair is as before, so the application can try again at once.
 */
static void test_a_hold_ends_if_rtr_fails(void **state)
{
	const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_MAX_DEST_RD_ATOMIC;
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = reads.access};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
		.dest_qp_num = 0x77,
		.max_dest_rd_atomic = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct changer c = {.attr = &rtr, .mask = mask};
	struct hp3_verbs_cell *cell;
	uint64_t begun;
	struct app a;

	start_app(&a, RXE);
	c.qp = verbs.create_qp(a.pd, &(struct ibv_qp_init_attr){.send_cq = a.cq,
					     .recv_cq = a.cq,
					     .cap = {.max_send_wr = 8, .max_send_sge = 1},
					     .qp_type = IBV_QPT_RC});
	assert_non_null(c.qp);
	assert_int_equal(
		verbs.modify_qp(c.qp, &init,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	__atomic_store_n(&a.device->faults.rtr, EINVAL, __ATOMIC_RELAXED);
	begun = now_ms();
	pthread_create(&c.thread, NULL, change_in_thread, &c);
	cell = cell_in_rtr(HP3_VERBS_RESPONDS | HP3_VERBS_WAITS);
	assert_non_null(cell);
	assert_int_equal(hp3d_do(&hp3d, cell, HP3_VERBS_HOLD, LONG_MS, NULL), HP3_VERBS_DRAINED);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.error, EINVAL);
	assert_int_equal(c.qp->state, IBV_QPS_INIT);
	__atomic_store_n(&a.device->faults.rtr, 0, __ATOMIC_RELAXED);
	assert_int_equal(verbs.modify_qp(c.qp, &rtr, mask), 0);
	assert_int_equal(verbs.modify_qp(c.qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	assert_true(now_ms() - begun < LONG_MS);
	assert_int_equal(verbs.destroy_qp(c.qp), 0);
	stop_app(&a);
}

static int start(void **state)
{
	struct app a;

	rig_load();
	app_start(&a, RXE, NULL); /* the agent's thread begins to look for hp3d */
	hp3d_start_placing(&hp3d, 1000000, 1000000, PLACE_US);
	app_stop(&a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_while_the_peer_is_held),
		cmocka_unit_test(test_a_late_move_fails),
		cmocka_unit_test(test_no_move_while_it_drains),
		cmocka_unit_test(test_held_for_the_peer),
		cmocka_unit_test(test_a_new_command_begins_anew),
		cmocka_unit_test(test_held_in_rtr),
		cmocka_unit_test(test_held_in_rtr_after_hp3d_has_ended),
		cmocka_unit_test(test_held_after_hp3d_has_ended),
		cmocka_unit_test(test_waiting_posts_stop_nothing_else),
		cmocka_unit_test(test_posts_beyond_the_pool_wait),
		cmocka_unit_test(test_placed_with_rtr),
		cmocka_unit_test(test_held_before_rts),
		cmocka_unit_test(test_a_hold_ends_if_rtr_fails),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
