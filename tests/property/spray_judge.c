/* SPDX-License-Identifier: BSD-3-Clause */
#include "spray_judge.h"
#include "base/minmax.h"
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
	p.words_percent = 10;
	p.restart_us = 20000;
	p.asker_restart_us = 30000;
	p.move_us = 1000;
	p.dies_us = 30000;
	p.stands_us = 10000;
	return p;
}

static struct spray_result sum_of(struct spray_params p, unsigned long long first)
{
	struct spray_result sum = {0}, r;

	for (unsigned i = 0; i < run_seeds; i++) {
		p.seed = first + i;
		assert_int_equal(spray_run(&p, &r), 0);
#define X(field) sum.field += r.field;
		SPRAY_RESULT(X)
#undef X
	}
	print_message("seeds %llu..%llu%s:", first, first + run_seeds - 1, p.off ? ", off" : "");
	show(&sum);
	return sum;
}

#define RTO_US 20000u /* of the RNICs: who loses the last packet of all waits for so long */

/* Spraying takes no longer than one path does, by `percent`, but for the RNICs' timers. */
static struct spray_result both(struct spray_params p, unsigned long long first, unsigned percent)
{
	struct spray_result on = sum_of(p, first), off;

	p.off = true;
	off = sum_of(p, first);
	assert_int_equal(off.sprayed + off.held, 0);
	assert_true((on.took_us - hp3_min_u64(on.took_us, on.timeouts * RTO_US)) * 100 <=
		    off.took_us * percent);
	return on;
}

struct spray_result spray_no_slower(struct spray_params p, unsigned percent)
{
	if (run_drawn())
		both(p, run_drawn(), percent);
	return both(p, run_first_seed, percent);
}

struct spray_result spray_many(struct spray_params p)
{
	return spray_no_slower(p, 130);
}
