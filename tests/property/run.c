/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"
#include <stdio.h>

unsigned run_seeds = 8, run_packets = 60000;
unsigned long long run_first_seed = 1;
#define SINGLE_ONE 4u /* of so many seeds hands the engine packets one by one */

#define DRAWN_ONE 8u /* drawn seed for so many fixed ones */

static bool draws; /* more seeds, from drawn_seed on */
static unsigned long long drawn_seed;
static struct world_result total; /* of all worlds with fixed seeds */
static unsigned runs;

static void add(struct world_result *sum, const struct world_result *r)
{
#define X(field) sum->field += r->field;
	WORLD_SUMS(X)
#undef X
#define X(field) sum->field = r->field > sum->field ? r->field : sum->field;
	WORLD_MAXES(X)
#undef X
}

static void show(unsigned long long first, unsigned seeds, const struct world_result *r)
{
	print_message("seeds %llu..%llu:", first, first + seeds - 1);
#define X(field)                                                                                   \
	if (r->field != 0)                                                                         \
		print_message(" " #field " %llu", (unsigned long long)r->field);
	WORLD_SUMS(X)
	WORLD_MAXES(X)
#undef X
	print_message("\n");
}

static struct world_result run_from(unsigned long long first, unsigned seeds, struct world_params p)
{
	struct world_result sum = {0};

	if (p.packets == 0)
		p.packets = run_packets;
	for (unsigned i = 0; i < seeds; i++) {
		struct world_result r;
		bool failed;

		p.seed = first + i;
		p.burst = p.seed % SINGLE_ONE == 0 ? 1 : 32;
		failed = world_run(&p, &r) != 0;
		if (failed && getenv("HP3_ONE_VIOLATION") != NULL)
			exit(EXIT_FAILURE);
		assert_false(failed);
		r.worlds_failed_over = r.failovers != 0;
		add(&sum, &r);
	}
	show(first, seeds, &sum);
	return sum;
}

struct world_result run(struct world_params p)
{
	struct world_result r;

	if (draws)
		run_from(drawn_seed, run_drawn_seeds(), p);
	r = run_from(run_first_seed, run_seeds, p);
	add(&total, &r);
	runs += run_seeds;
	return r;
}

struct world_params run_base(void)
{
	return (struct world_params){.qps = 8,
		.paths = 7,
		.move_every_us = 100,
		.msg_packets = 200,
		.window = 128,
		.hold_bytes = 1 << 20,
		.news = true};
}

void run_forged(struct world_params p)
{
	struct world_result r;

	p.cm = true;
	p.reads = true;
	r = run(p);
	assert_sum(r.forged > 200 * run_seeds);
	assert_sum(r.switched + r.idle > 50 * run_seeds);
	assert_sum(r.recovered < r.switched / 30);
	assert_int_equal(r.unpaired, 0);
	assert_int_equal(r.epochs, 0);
}

void bursts_were_long(void **state)
{
	print_message("%llu bursts, %llu of many replies, %llu replies taken unseen\n",
		(unsigned long long)total.bursts, (unsigned long long)total.long_rx,
		(unsigned long long)total.unseen);
	assert_sum(total.bursts >= 1000 * runs);
	assert_sum(total.long_rx >= 10 * runs);
	assert_sum(total.unseen >= 10 * runs);
}

unsigned long long run_drawn(void)
{
	return draws ? drawn_seed : 0;
}

unsigned run_drawn_seeds(void)
{
	return draws ? (run_seeds + DRAWN_ONE - 1) / DRAWN_ONE : 0;
}

void run_arguments(int argc, char **argv)
{
	const char *base = getenv("HP3_SEED_BASE");

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	if (argc > 1)
		run_seeds = (unsigned)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		run_packets = (unsigned)strtoul(argv[2], NULL, 0);
	draws = argc <= 3 && base != NULL && *base != '\0';
	if (draws)
		drawn_seed = strtoull(base, NULL, 0);
	if (argc > 3)
		run_first_seed = strtoull(argv[3], NULL, 0);
}
