/* SPDX-License-Identifier: BSD-3-Clause */
/* A sleep ends in time, or by a wake-up; a wake-up between arming and sleeping counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include "app/hp3d/lcores/sleeper.h"

#define LONG  20000000000ull /* far beyond what a ring takes on a busy machine */
#define TURNS 2000u

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void ends_in_time(void **state)
{
	struct hp3d_sleeper s;
	uint64_t start = now();

	assert_int_equal(hp3d_sleeper_init(&s), 0);
	assert_true(s.by_packets); /* nothing that could not wake it */
	hp3d_sleeper_arm(&s);
	assert_true(s.armed);
	hp3d_sleeper_sleep(&s, 20000000);
	assert_true(now() - start >= 20000000);
	assert_false(s.armed);
	hp3d_sleeper_free(&s);
}

static void rung_before(void **state)
{
	struct hp3d_sleeper s;
	uint64_t start = now();

	assert_int_equal(hp3d_sleeper_init(&s), 0);
	hp3d_sleeper_arm(&s);
	hp3d_sleeper_wake(&s);
	hp3d_sleeper_wake(&s);
	hp3d_sleeper_sleep(&s, LONG);
	assert_true(now() - start < LONG);
	/* Who is awake is not rung for. */
	hp3d_sleeper_wake(&s);
	start = now();
	hp3d_sleeper_arm(&s);
	hp3d_sleeper_sleep(&s, 20000000);
	assert_true(now() - start >= 20000000);
	hp3d_sleeper_free(&s);
}

static void no_queue(void **state)
{
	struct hp3d_sleeper s;

	assert_int_equal(hp3d_sleeper_init(&s), 0);
	hp3d_sleeper_add(&s, 0, 0); /* no such port */
	assert_false(s.by_packets);
	hp3d_sleeper_free(&s);
}

struct game {
	struct hp3d_sleeper sleeper[2];
	uint32_t ball; /* whose turn */
};

struct player {
	struct game *game;
	uint32_t side;
};

/* Each side leaves work for the other and sleeps without limit: one lost ring, and they stay so. */
static void *play(void *arg)
{
	struct player *p = arg;
	struct game *g = p->game;
	uint64_t start = now();

	for (uint32_t turn = p->side; turn < TURNS; turn += 2) {
		while (__atomic_load_n(&g->ball, __ATOMIC_ACQUIRE) != turn) {
			hp3d_sleeper_arm(&g->sleeper[p->side]);
			if (__atomic_load_n(&g->ball, __ATOMIC_ACQUIRE) == turn)
				hp3d_sleeper_disarm(&g->sleeper[p->side]);
			else
				hp3d_sleeper_sleep(&g->sleeper[p->side], LONG);
			if (now() - start > LONG)
				return arg;
		}
		__atomic_store_n(&g->ball, turn + 1, __ATOMIC_RELEASE);
		hp3d_sleeper_wake(&g->sleeper[!p->side]);
	}
	return NULL;
}

static void no_ring_is_lost(void **state)
{
	struct game g = {0};
	struct player p[2] = {{&g, 0}, {&g, 1}};
	pthread_t thread;
	void *failed;

	assert_int_equal(hp3d_sleeper_init(&g.sleeper[0]), 0);
	assert_int_equal(hp3d_sleeper_init(&g.sleeper[1]), 0);
	assert_int_equal(pthread_create(&thread, NULL, play, &p[1]), 0);
	assert_null(play(&p[0]));
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(g.ball, TURNS);
	hp3d_sleeper_free(&g.sleeper[0]);
	hp3d_sleeper_free(&g.sleeper[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_in_time),
		cmocka_unit_test(rung_before),
		cmocka_unit_test(no_queue),
		cmocka_unit_test(no_ring_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
