/* SPDX-License-Identifier: BSD-3-Clause */
/* Events fire in time order, those of one time in the order in which they were added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/random.h"
#include "sim/core/queue.h"

#define EVENTS 200000u
#define FIRST  2000u
#define SEED   7u

struct numbered {
	struct sim_event event;
	uint64_t order;
};

/* Steps from the same instant to beyond the ring's reach. */
static uint64_t step(uint64_t *rng)
{
	static const uint64_t spans[] = {1, 100, 2048, 100000, 16000000, 20000000, 4000000000};

	return hp3_random(rng) % spans[hp3_random_below(rng, 7)];
}

static void add(struct sim_queue *q, struct numbered *e, uint64_t at, uint64_t *order)
{
	e->event.at = at;
	e->order = (*order)++;
	sim_queue_add(q, &e->event);
}

static void ordered(void **state)
{
	struct sim_queue q;
	struct numbered *e = calloc(EVENTS, sizeof(*e)), *last = NULL;
	uint64_t rng = SEED, order = 0, now = 0, last_at = 0, last_order = 0, n = 0;
	struct sim_event *event;

	sim_queue_init(&q);
	for (uint32_t i = 0; i < FIRST; i++)
		add(&q, &e[i], step(&rng), &order);
	for (uint32_t i = FIRST; (event = sim_queue_pop(&q)) != NULL; n++) {
		struct numbered *x = (struct numbered *)event;

		assert_true(event->at >= now);
		if (last != NULL && last_at == event->at)
			assert_true(x->order > last_order);
		now = last_at = event->at;
		last_order = x->order;
		last = x;
		for (uint32_t k = hp3_random_below(&rng, 3); k > 0 && i < EVENTS; k--)
			add(&q, &e[i++], now + step(&rng), &order);
		if (q.pending == 0 && i < EVENTS)
			add(&q, &e[i++], now + step(&rng), &order);
	}
	assert_int_equal(n, EVENTS);
	sim_queue_free(&q);
	free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ordered)};

	printf("seed %u\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
