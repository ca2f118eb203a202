/* SPDX-License-Identifier: BSD-3-Clause */
/* Impairments of the testbed's links: each has its effect, with its share, and is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "p4-testbed/fabric/tm.h"
#include "p4-testbed/fabric/topo.h"

#define FRAMES 60000u
#define BYTES  1000u
#define MS     1000000ull

struct frame {
	struct hp3_frame f; /* first: what the traffic manager hands back */
	unsigned number;
	bool copy, ce, damaged;
};

struct world {
	struct hp3_tm tm;
	struct frame frame[2 * FRAMES];
	unsigned made, sent, delivered, copies, ce, damaged, overtaken;
	unsigned dropped[HP3_TM_DROP_MAX];
	unsigned latest, row, rows, longest; /* number that came last; losses in a row */
	uint64_t at; /* of the last delivery */
};

static void deliver(void *arg, uint32_t lane, struct hp3_frame *f)
{
	struct world *w = arg;
	struct frame *own = (struct frame *)f;

	assert_int_equal(f->lane_in, lane);
	if (own->copy)
		assert_int_equal(own->number, w->latest); /* at once */
	w->delivered++;
	w->copies += own->copy;
	w->ce += own->ce;
	w->damaged += own->damaged;
	w->overtaken += own->number < w->latest;
	w->latest = own->number > w->latest ? own->number : w->latest;
	w->at = w->tm.now;
}

static void drop(void *arg, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why)
{
	struct world *w = arg;
	static unsigned before;

	(void)lane;
	w->dropped[why]++;
	w->row = w->row > 0 && before + 1 == ((struct frame *)f)->number ? w->row + 1 : 1;
	w->rows += w->row == 1;
	w->longest = w->row > w->longest ? w->row : w->longest;
	before = ((struct frame *)f)->number;
}

static void pause_host(void *arg, uint32_t lane, uint8_t priorities)
{
	(void)arg;
	(void)lane;
	(void)priorities;
}

static uint32_t flow(void *arg, const struct hp3_frame *f)
{
	(void)arg;
	return ((const struct frame *)f)->number;
}

static bool remark(void *arg, struct hp3_frame *f, bool ce)
{
	struct frame *own = (struct frame *)f;
	bool changed = own->ce != ce;

	(void)arg;
	own->ce = ce;
	return changed;
}

static void damage(void *arg, struct hp3_frame *f, uint32_t random)
{
	(void)arg;
	(void)random;
	((struct frame *)f)->damaged = true;
}

static struct hp3_frame *copy(void *arg, const struct hp3_frame *f)
{
	struct world *w = arg;
	struct frame *own = &w->frame[w->made++];

	*own = *(const struct frame *)f;
	own->copy = true;
	return &own->f;
}

static const struct hp3_tm_ops ops = {deliver, drop, pause_host, flow, remark, damage, copy};

/* One lane of 100 Mb/s: a frame takes 82 us on it, and 100 us to fly. */
static struct world *begin(const struct hp3_impair *impair)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(hp3_tm_init(&w->tm, 1, 3, &ops, w), 0);
	w->tm.lane[0].rate_bps = 100000000;
	w->tm.lane[0].delay_ns = 100000;
	w->tm.lane[0].buffer_bytes = 200000;
	w->tm.lane[0].impair = *impair;
	return w;
}

/* A frame each 100 us; every second one is marked. */
static void play(struct world *w, unsigned frames)
{
	for (unsigned i = 0; i < frames; i++) {
		struct frame *f = &w->frame[w->made++];

		*f = (struct frame){.f = {.bytes = BYTES, .lane_in = HP3_TM_NO_LANE},
			.number = ++w->sent,
			.ce = i % 2 == 0};
		hp3_tm_enqueue(&w->tm, 0, &f->f, 3);
		hp3_tm_run(&w->tm, w->tm.now + 100000);
	}
	hp3_tm_run(&w->tm, w->tm.now + 2000 * MS);
}

/* All that was sent arrived, once or with its copy, or was dropped by name. */
static void end(struct world *w)
{
	const struct hp3_lane_stats *s = &w->tm.lane[0].stats;
	unsigned dropped = 0;

	for (unsigned i = 0; i < HP3_TM_DROP_MAX; i++) {
		assert_int_equal(s->drops[i], w->dropped[i]);
		dropped += w->dropped[i];
	}
	assert_int_equal(w->delivered + dropped, w->sent + w->copies);
	assert_int_equal(s->duplicated, w->copies);
	assert_int_equal(s->damaged, w->damaged);
	assert_int_equal(w->tm.frames, 0);
	hp3_tm_free(&w->tm);
	free(w);
}

static void a_lane_that_is_well_changes_nothing(void **state)
{
	struct world *w = begin(&(struct hp3_impair){0});

	(void)state;
	play(w, FRAMES);
	assert_int_equal(w->delivered, FRAMES);
	assert_int_equal(w->ce, FRAMES / 2);
	assert_int_equal(w->overtaken, 0);
	end(w);
}

/* 0.1 % of 60,000 in the mean of a drawing. */
static void losses_have_their_share(void **state)
{
	static const uint32_t shares[] = {1000, 20000, 50000};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct world *w = begin(&(struct hp3_impair){.loss_ppm = shares[i]});
		unsigned due = FRAMES / 1000 * shares[i] / 1000;

		play(w, FRAMES);
		assert_in_range(w->dropped[HP3_TM_DROP_RANDOM], due * 2 / 3, due * 4 / 3);
		end(w);
	}
}

static void bursts_take_so_many_in_a_row(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.loss_ppm = 20000, .loss_burst = 20});

	(void)state;
	play(w, FRAMES);
	assert_in_range(w->dropped[HP3_TM_DROP_RANDOM], 800, 1600);
	assert_in_range(w->rows, 40, 80);
	assert_true(w->longest >= 20 && w->longest % 20 == 0);
	end(w);
}

static void black_holes_take_the_same_flows(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.blackhole_percent = 50});

	(void)state;
	play(w, 1000);
	assert_int_equal(w->dropped[HP3_TM_DROP_BLACKHOLE], 500);
	end(w);
}

static void copies_follow_at_once(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.duplicate_ppm = 50000});

	(void)state;
	play(w, FRAMES);
	assert_in_range(w->copies, 2700, 3300);
	assert_int_equal(w->overtaken, 0);
	end(w);
}

/* 1 ms longer: those of the 10 frames behind it that are not late themselves overtake it. */
static void late_frames_are_overtaken(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.reorder_ppm = 10000, .reorder_us = 1000});

	(void)state;
	play(w, FRAMES);
	assert_in_range(w->tm.lane[0].stats.delayed, 500, 700);
	assert_in_range(w->overtaken, 500, 700);
	assert_int_equal(w->delivered, FRAMES);
	end(w);
}

/* The last frame of all is late: it comes when that says, also if nothing follows. */
static void a_late_frame_needs_no_other(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.reorder_ppm = 1000000, .reorder_us = 5000});

	(void)state;
	play(w, 1);
	assert_int_equal(w->at, (BYTES + HP3_TOPO_WIRE) * 80 + 100000 + 5 * MS);
	end(w);
}

static void bits_flip_and_marks_change(void **state)
{
	struct world *w =
		begin(&(struct hp3_impair){.corrupt_ppm = 20000, .ecn = HP3_IMPAIR_ECN_CLEAR});

	(void)state;
	play(w, FRAMES);
	assert_in_range(w->damaged, 1000, 1400);
	assert_int_equal(w->ce, 0);
	assert_int_equal(w->tm.lane[0].stats.remarked, FRAMES / 2);
	end(w);
	w = begin(&(struct hp3_impair){.ecn = HP3_IMPAIR_ECN_SET});
	play(w, 100);
	assert_int_equal(w->ce, 100);
	end(w);
}

static void what_is_too_long_is_swallowed(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.mtu = BYTES - HP3_TOPO_ETHERNET});

	(void)state;
	play(w, 10);
	assert_int_equal(w->delivered, 10);
	w->tm.lane[0].impair.mtu--;
	play(w, 10);
	assert_int_equal(w->dropped[HP3_TM_DROP_TOO_BIG], 10);
	end(w);
}

/* 100 ms of frames each 100 us: down from 15 to 20, from 35 to 40 ... */
static void a_lane_that_flaps_is_down_for_its_part(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.flap_ms = 20, .flap_down_ms = 5});

	(void)state;
	play(w, 1000);
	assert_int_equal(w->dropped[HP3_TM_DROP_FLAP], 250);
	assert_int_equal(w->rows, 5);
	assert_int_equal(w->longest, 50);
	end(w);
}

static void a_link_that_fails_takes_late_frames_along(void **state)
{
	struct world *w = begin(&(struct hp3_impair){.reorder_ppm = 500000, .reorder_us = 50000});

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		play(w, 0);
		for (unsigned k = 0; k < 100; k++) {
			struct frame *f = &w->frame[w->made++];

			*f = (struct frame){.f = {.bytes = BYTES, .lane_in = HP3_TM_NO_LANE},
				.number = ++w->sent};
			hp3_tm_enqueue(&w->tm, 0, &f->f, 3);
		}
		hp3_tm_run(&w->tm, w->tm.now + 6 * MS);
		hp3_tm_set_up(&w->tm, 0, false);
		hp3_tm_set_up(&w->tm, 0, true);
	}
	assert_true(w->delivered > 0 && w->dropped[HP3_TM_DROP_DOWN] > 0);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lane_that_is_well_changes_nothing),
		cmocka_unit_test(losses_have_their_share),
		cmocka_unit_test(bursts_take_so_many_in_a_row),
		cmocka_unit_test(black_holes_take_the_same_flows),
		cmocka_unit_test(copies_follow_at_once),
		cmocka_unit_test(late_frames_are_overtaken),
		cmocka_unit_test(a_late_frame_needs_no_other),
		cmocka_unit_test(bits_flip_and_marks_change),
		cmocka_unit_test(what_is_too_long_is_swallowed),
		cmocka_unit_test(a_lane_that_flaps_is_down_for_its_part),
		cmocka_unit_test(a_link_that_fails_takes_late_frames_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
