/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: hp3-events-bench
 *
 * Cost of an event in the simulator's queue, against the heap alone, with times as packets have
 * them: each event that fires is added again at 84 ns (serialisation) or 1,084 ns (and propagation)
 * from now. One line of JSON per number of pending events: nanoseconds per event, best of three.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/random.h"
#include "sim/core/memory.h"
#include "sim/core/queue.h"

#define EVENTS 3000000u

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t ahead(uint64_t *rng)
{
	return (hp3_random(rng) & 1 ? 83840u : 1083840u) + hp3_random_below(rng, 1000);
}

static double queue_ns(uint32_t pending)
{
	struct sim_event *event = sim_alloc(pending, sizeof(*event)), *e;
	uint64_t rng = 1;
	struct sim_queue q;
	double start;

	sim_queue_init(&q);
	for (uint32_t i = 0; i < pending; i++) {
		event[i].at = ahead(&rng);
		sim_queue_add(&q, &event[i]);
	}
	start = seconds();
	for (uint32_t i = 0; i < EVENTS; i++) {
		e = sim_queue_pop(&q);
		e->at += ahead(&rng);
		sim_queue_add(&q, e);
	}
	start = seconds() - start;
	sim_queue_free(&q);
	free(event);
	return start * 1e9 / EVENTS;
}

static double heap_ns(uint32_t pending)
{
	struct sim_event *event = sim_alloc(pending, sizeof(*event)), *e;
	struct hp3_heap h = {.a = sim_alloc(pending, sizeof(*h.a)), .cap = pending};
	uint64_t rng = 1;
	double start;

	for (uint32_t i = 0; i < pending; i++) {
		event[i].at = ahead(&rng);
		hp3_heap_push(&h, (struct hp3_heap_entry){.at = event[i].at, .event = &event[i]});
	}
	start = seconds();
	for (uint32_t i = 0; i < EVENTS; i++) {
		e = hp3_heap_pop(&h).event;
		e->at += ahead(&rng);
		hp3_heap_push(&h, (struct hp3_heap_entry){.at = e->at, .event = e});
	}
	start = seconds() - start;
	free(h.a);
	free(event);
	return start * 1e9 / EVENTS;
}

int main(void)
{
	static const uint32_t sizes[] = {100, 1000, 10000, 100000};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double queue = 1e9, heap = 1e9;

		for (unsigned k = 0; k < 3; k++) {
			double a = queue_ns(sizes[i]), b = heap_ns(sizes[i]);

			queue = a < queue ? a : queue;
			heap = b < heap ? b : heap;
		}
		printf("{\"pending\": %u, \"queue_ns\": %.1f, \"heap_ns\": %.1f}\n", sizes[i],
			queue, heap);
	}
	return 0;
}
