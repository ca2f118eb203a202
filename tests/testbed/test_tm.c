/* SPDX-License-Identifier: BSD-3-Clause */
/* The testbed's traffic manager: rate, delay, order, priorities, PFC, drops, links that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "p4-testbed/fabric/tm.h"
#include "p4-testbed/fabric/topo.h"

#define LANES  6u
#define FRAMES 4000u

struct frame {
	struct hp3_frame f; /* first: what the traffic manager hands back */
	unsigned number, lane;
};

struct world {
	struct hp3_tm tm;
	struct frame frame[FRAMES];
	unsigned made, delivered, dropped[HP3_TM_DROP_MAX];
	unsigned last[LANES]
		     [HP3_TM_PRIORITIES]; /* number of the frame before, by lane and priority */
	uint64_t at; /* of the last delivery */
	uint8_t stop; /* what the host of lane 0 is told */
	bool forward; /* lanes 0..3 lead to a switch that sends on by lane 4 */
};

static void deliver(void *arg, uint32_t lane, struct hp3_frame *f)
{
	struct world *w = arg;
	struct frame *own = (struct frame *)f;

	if (w->forward && lane < 4) {
		hp3_tm_enqueue(&w->tm, 4, f, f->priority);
		return;
	}
	assert_true(own->number > w->last[own->lane][f->priority]);
	w->last[own->lane][f->priority] = own->number;
	w->delivered++;
	w->at = w->tm.now;
}

static void drop(void *arg, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why)
{
	(void)lane;
	(void)f;
	((struct world *)arg)->dropped[why]++;
}

static void pause_host(void *arg, uint32_t lane, uint8_t priorities)
{
	assert_int_equal(lane, 0);
	((struct world *)arg)->stop = priorities;
}

static const struct hp3_tm_ops ops = {deliver, drop, pause_host, NULL, NULL, NULL, NULL};

static struct world *begin(bool lossless)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(hp3_tm_init(&w->tm, LANES, 3, &ops, w), 0);
	w->tm.lossless = lossless;
	w->tm.xoff = 20000;
	w->tm.xon = 10000;
	for (unsigned i = 0; i < LANES; i++) {
		w->tm.lane[i].rate_bps = 100000000;
		w->tm.lane[i].delay_ns = 100000;
		w->tm.lane[i].buffer_bytes = 200000;
		w->tm.lane[i].from_host = i == 0;
	}
	return w;
}

static void end(struct world *w)
{
	unsigned dropped = 0;

	hp3_tm_free(&w->tm);
	for (unsigned i = 0; i < HP3_TM_DROP_MAX; i++)
		dropped += w->dropped[i];
	assert_int_equal(w->delivered + dropped, w->made);
	assert_int_equal(w->tm.frames, 0);
	free(w);
}

static void send(struct world *w, unsigned lane, uint32_t bytes, uint32_t priority)
{
	struct frame *f = &w->frame[w->made++];

	assert_true(w->made <= FRAMES);
	*f = (struct frame){
		.f = {.bytes = bytes, .lane_in = HP3_TM_NO_LANE}, .number = w->made, .lane = lane};
	hp3_tm_enqueue(&w->tm, lane, &f->f, priority);
}

/* 100 frames of 1,000 bytes: (1000 + 24) * 8 bits at 100 Mb/s each, then the delay. */
static void rate_and_delay_are_exact(void **state)
{
	struct world *w = begin(false);

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		send(w, 1, 1000, 3);
	assert_int_equal(w->tm.lane[1].stats.peak_bytes, 100000);
	hp3_tm_run(&w->tm, 100 * (1000 + HP3_TOPO_WIRE) * 80 + 100000 - 1);
	assert_int_equal(w->delivered, 99);
	hp3_tm_run(&w->tm, 1000000000);
	assert_int_equal(w->delivered, 100);
	assert_int_equal(w->at, 100 * (1000 + HP3_TOPO_WIRE) * 80 + 100000);
	end(w);
}

/* A late caller changes nothing: the same times as if it had been called for every event. */
static void a_late_caller_catches_up(void **state)
{
	struct world *w = begin(false);

	(void)state;
	w->forward = true;
	for (unsigned i = 0; i < 50; i++)
		send(w, 1, 1000, 3);
	hp3_tm_run(&w->tm, 10000000000);
	assert_int_equal(w->delivered, 50);
	assert_int_equal(w->at, 51 * (1000 + HP3_TOPO_WIRE) * 80 + 2 * 100000);
	end(w);
}

static void the_highest_priority_goes_first(void **state)
{
	struct world *w = begin(false);

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		send(w, 1, 1000, 3);
	send(w, 1, 100, 6);
	/* One frame of priority 3 was under way; then comes the one of priority 6. */
	hp3_tm_run(&w->tm, ((1000 + 100 + 2 * HP3_TOPO_WIRE) * 80) + 100000);
	assert_int_equal(w->delivered, 2);
	assert_int_equal(w->last[1][6], 11);
	hp3_tm_run(&w->tm, 1000000000);
	end(w);
}

static void a_full_queue_drops_with_its_name(void **state)
{
	struct world *w = begin(false);

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		send(w, 2, 1000, 3);
	assert_int_equal(w->dropped[HP3_TM_DROP_FULL], 100);
	assert_int_equal(w->tm.lane[2].stats.drops[HP3_TM_DROP_FULL], 100);
	hp3_tm_run(&w->tm, 1000000000);
	end(w);
}

/* Four lanes into one: lossy drops, lossless stops the senders, the host among them. */
static void incast(bool lossless, unsigned *lost, uint8_t *stopped)
{
	struct world *w = begin(lossless);

	w->forward = true;
	w->tm.lane[4].buffer_bytes = 150000;
	for (unsigned i = 0; i < 150; i++)
		for (unsigned lane = 0; lane < 4; lane++)
			send(w, lane, 1000, 3);
	hp3_tm_run(&w->tm, 10000000);
	*stopped = w->stop;
	hp3_tm_run(&w->tm, 10000000000);
	assert_int_equal(w->stop, 0);
	for (unsigned lane = 0; lossless && lane < 4; lane++)
		assert_true(
			w->tm.lane[lane].stats.pauses > 0 && w->tm.lane[lane].stats.paused_ns > 0);
	*lost = w->dropped[HP3_TM_DROP_FULL];
	end(w);
}

static void pfc_loses_nothing(void **state)
{
	unsigned lost;
	uint8_t stopped;

	(void)state;
	incast(false, &lost, &stopped);
	assert_true(lost > 0);
	assert_int_equal(stopped, 0);
	incast(true, &lost, &stopped);
	assert_int_equal(lost, 0);
	assert_int_equal(stopped, 1u << 3);
}

static void a_pause_stops_its_priority_alone(void **state)
{
	struct world *w = begin(true);

	(void)state;
	hp3_tm_host_pause(&w->tm, 1, 3, 50000000);
	send(w, 1, 1000, 3);
	send(w, 1, 1000, 6);
	hp3_tm_run(&w->tm, 49000000);
	assert_int_equal(w->delivered, 1);
	assert_int_equal(w->last[1][6], 2);
	hp3_tm_run(&w->tm, 60000000);
	assert_int_equal(w->delivered, 2);
	end(w);
}

static void a_link_that_fails_takes_all_along(void **state)
{
	struct world *w = begin(false);

	(void)state;
	for (unsigned i = 0; i < 50; i++)
		send(w, 1, 1000, 3);
	hp3_tm_run(&w->tm, 500000); /* some have arrived, some fly, some wait */
	hp3_tm_set_up(&w->tm, 1, false);
	assert_true(w->delivered > 0 && w->delivered < 50);
	assert_int_equal(w->dropped[HP3_TM_DROP_DOWN], 50 - w->delivered);
	send(w, 1, 1000, 3);
	hp3_tm_run(&w->tm, 1000000);
	hp3_tm_set_up(&w->tm, 1, true);
	send(w, 1, 1000, 3);
	hp3_tm_run(&w->tm, 100000000);
	assert_int_equal(w->last[1][3], 52);
	end(w);
}

/* Random load, rates and delays that change, links that come and go: nothing is lost unnamed. */
static void every_frame_is_accounted_for(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct world *w = begin(seed % 2 == 0);
		unsigned r = seed;

		for (unsigned i = 0; i < 2000; i++) {
			unsigned lane = 1 + rand_r(&r) % 5, what = (unsigned)rand_r(&r) % 200;

			if (what == 0)
				w->tm.lane[lane].delay_ns = 1 + (uint64_t)rand_r(&r) % 1000000;
			else if (what == 1)
				hp3_tm_set_up(&w->tm, lane, rand_r(&r) % 2);
			else
				send(w, lane, 60 + (uint32_t)rand_r(&r) % 1400,
					(uint32_t)rand_r(&r) % 8);
			hp3_tm_run(&w->tm, w->tm.now + (uint64_t)rand_r(&r) % 60000);
		}
		hp3_tm_run(&w->tm, w->tm.now + 10000000000ull);
		end(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_and_delay_are_exact),
		cmocka_unit_test(a_late_caller_catches_up),
		cmocka_unit_test(the_highest_priority_goes_first),
		cmocka_unit_test(a_full_queue_drops_with_its_name),
		cmocka_unit_test(pfc_loses_nothing),
		cmocka_unit_test(a_pause_stops_its_priority_alone),
		cmocka_unit_test(a_link_that_fails_takes_all_along),
		cmocka_unit_test(every_frame_is_accounted_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
