/* SPDX-License-Identifier: BSD-3-Clause */
#include "spray_judge.h"
#include "base/minmax.h"
#include "base/random.h"
#include "run.h"

static void show(const struct spray_result *r)
{
#define X(field)                                                                                   \
	if (r->field != 0)                                                                         \
		print_message(" " #field " %llu", (unsigned long long)r->field);
	SPRAY_RESULT(X)
#undef X
	print_message("\n");
}

struct spray_params spray_base(void)
{
	return (struct spray_params){.qps = 4,
		.packets = run_packets / 4,
		.paths = 7,
		.spread_us = 200,
		.stands_ms = 20,
		.small_percent = 30,
		.reads_percent = 10};
}

struct spray_params spray_trouble(struct spray_params p)
{
	p.qps = 12;
	p.loss_ppm = 500;
	p.bad_ppm = 200;
	p.rnr_ppm = 100;
	p.damaged_ppm = 200;
	p.twice_ppm = 200;
	p.message_fault_percent = 10;
	p.restart_us = 20000;
	p.asker_restart_us = 30000;
	p.move_us = 1000;
	p.dies_us = 30000;
	p.stands_us = 10000;
	return p;
}

static struct spray_result sum_of(struct spray_params p, unsigned long long first, unsigned seeds)
{
	struct spray_result sum = {0}, r;

	if (seeds == 0)
		return sum;
	for (unsigned i = 0; i < seeds; i++) {
		p.seed = first + i;
		assert_int_equal(spray_run(&p, &r), 0);
#define X(field) sum.field += r.field;
		SPRAY_RESULT(X)
#undef X
	}
	print_message("seeds %llu..%llu%s:", first, first + seeds - 1, p.off ? ", off" : "");
	show(&sum);
	return sum;
}

#define RTO_US 20000u /* of the RNICs: who loses the last packet of all waits for so long */

/* An event that comes late, and nothing else, disturbs the world: no packet passes another one, and
 * none is lost. */
static void judge_unsprayed(const struct spray_params *p, const struct spray_result *off)
{
	assert_int_equal(off->sprayed + off->held, 0);
	if (p->report_delay_us == 0)
		return;
	assert_int_equal(off->gaps + off->read_gaps + off->again + off->timeouts, 0);
	assert_int_equal(off->overtaken + off->lost, 0);
}

/* Spraying takes no longer than one path does, by `percent`, but for the RNICs' timers. */
static struct spray_result both(struct spray_params p, unsigned percent)
{
	struct spray_result on = sum_of(p, run_first_seed, run_seeds), off;

	p.off = true;
	off = sum_of(p, run_first_seed, run_seeds);
	judge_unsprayed(&p, &off);
	assert_sum(p.report_delay_us == 0 ||
		   (off.returned > 0 && (p.move_us == 0 || off.moves > run_seeds)));
	assert_sum((on.took_us - hp3_min_u64(on.took_us, on.timeouts * RTO_US)) * 100 <=
		   off.took_us * percent);
	return on;
}

#define WAIT_US 2000u /* for a packet that is missing, at most: spray_wait_us as shipped */

/* Time that all queue pairs took together, but for what a count of waits may explain. */
static uint64_t busy_us(const struct spray_result *r, uint64_t waited_us)
{
	return r->done_us - hp3_min_u64(r->done_us, waited_us + r->timeouts * RTO_US);
}

/*
 * Each wait delays one queue pair, so they are subtracted from the sum over queue pairs: worlds in
 * which no RNIC's timer ends have short times, and a wait is long beside a round trip.
 */
static struct spray_result but_for_waits(struct spray_params p)
{
	struct spray_result on = sum_of(p, run_first_seed, run_seeds), off;

	p.off = true;
	off = sum_of(p, run_first_seed, run_seeds);
	assert_int_equal(off.sprayed + off.held, 0);
	assert_true(on.late <= on.lost + on.damaged);
	assert_sum(busy_us(&on, on.late * WAIT_US) <= busy_us(&off, 0));
	return on;
}

struct spray_result spray_waits_once(struct spray_params p)
{
	const struct spray_result r = sum_of(p, run_drawn(), run_drawn_seeds());

	assert_true(r.late <= r.lost + r.damaged);
	return but_for_waits(p);
}

struct spray_result spray_no_slower(struct spray_params p, unsigned percent)
{
	struct spray_params off = p;
	struct spray_result r;

	sum_of(p, run_drawn(), run_drawn_seeds());
	if (p.report_delay_us != 0) {
		off.off = true;
		r = sum_of(off, run_drawn(), run_drawn_seeds());
		judge_unsprayed(&off, &r);
	}
	return both(p, percent);
}

struct spray_result spray_many(struct spray_params p)
{
	return spray_no_slower(p, 130);
}

struct spray_result spray_any_time(struct spray_params p)
{
	return sum_of(p, run_first_seed, run_seeds);
}

static uint32_t one_of(uint64_t *rng, const uint32_t *list, uint32_t n)
{
	return list[hp3_random_below(rng, n)];
}

/* Half of all that may go wrong does, each as often as here or half as often. */
static uint32_t maybe(uint64_t *rng, uint32_t much)
{
	return hp3_random_below(rng, 2) * (much / (1 + hp3_random_below(rng, 2)));
}

static struct spray_params drawn(unsigned long long seed, uint32_t large_reads_percent)
{
	static const uint32_t bytes[] = {512, 1024, 4096, 16384, 131072};
	static const uint32_t rnic_us[] = {0, 1, 5, 20};
	struct spray_params p = spray_base();
	uint64_t rng = seed * 2 + 1;

	p.seed = seed;
	p.bytes = one_of(&rng, bytes, 5);
	p.rnic_us = one_of(&rng, rnic_us, 4);
	p.selective = hp3_random_below(&rng, 4) == 0;
	p.ones_percent = maybe(&rng, 60);
	p.inv_percent = maybe(&rng, 30);
	p.small_percent = maybe(&rng, 60);
	p.reads_percent = maybe(&rng, 40);
	p.large_reads_percent = maybe(&rng, large_reads_percent);
	p.spread_us = 1 + hp3_random_below(&rng, 400);
	p.loss_ppm = maybe(&rng, 1000);
	p.bad_ppm = maybe(&rng, 400);
	p.rnr_ppm = maybe(&rng, 200);
	p.damaged_ppm = maybe(&rng, 400);
	p.twice_ppm = maybe(&rng, 400);
	p.message_fault_percent = maybe(&rng, 20);
	p.restart_us = maybe(&rng, 20000);
	p.asker_restart_us = maybe(&rng, 30000);
	p.move_us = maybe(&rng, 2000);
	p.dies_us = maybe(&rng, 30000);
	p.stands_us = maybe(&rng, 10000);
	p.pauses_us = maybe(&rng, 5000);
	p.paused_us = 1 + hp3_random_below(&rng, 1000);
	p.atomics_percent = maybe(&rng, 20);
	p.returns_us = maybe(&rng, 8000);
	p.untold_percent = maybe(&rng, 20);
	return p;
}

struct spray_result spray_any(uint32_t large_reads_percent)
{
	unsigned long long first = run_drawn() ? run_drawn() : run_first_seed;
	struct spray_result sum = {0}, r;
	unsigned failed = 0;

	for (unsigned i = 0; i < 4 * run_seeds; i++) {
		const struct spray_params p = drawn(first + i, large_reads_percent);

		failed += spray_run(&p, &r) != 0;
#define X(field) sum.field += r.field;
		SPRAY_RESULT(X)
#undef X
	}
	print_message("seeds %llu..%llu:", first, first + 4 * run_seeds - 1);
	show(&sum);
	assert_int_equal(failed, 0);
	return sum;
}
