/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of all paths to a peer. */
#include "tests/xfer/core/pair.h"

#define LENGTH (1u << 20)
#define SLICE  65536u

/* Keeps four writes of 1 MiB under way for `time`. Returns the bytes acknowledged. */
static uint64_t load_for(struct pair *p, uint64_t time)
{
	uint64_t until = p->now + time, before = 0, after = 0;

	for (uint32_t i = 0; i < PAIR_PATHS; i++)
		before += p->path[i].bytes;
	while (p->now < until) {
		while (p->written < p->n_ended + 4) {
			assert_true(pair_write(p, LENGTH, 0, 0) > 0);
			p->written++;
		}
		pair_run(p, p->now + 100 * US);
	}
	for (uint32_t i = 0; i < PAIR_PATHS; i++)
		after += p->path[i].bytes;
	return after - before;
}

/* Paths of `rails` rails, `per_rail` each; up. */
static struct pair *begin(uint32_t rails, uint32_t per_rail)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p;

	c.rails = rails;
	c.paths_per_rail = per_rail;
	p = pair_create(&c);
	pair_run(p, p->now + MS);
	return p;
}

/* Twice rate * RTT is 0.6 slices: the path needs two slices, the window allows one more. */
static void paths_of_a_link_share_a_window(void **state)
{
	struct pair *p = begin(1, 8);
	uint64_t bytes;

	p->one_link = true;
	load_for(p, 20 * MS);
	p->most_in_flight = 0;
	bytes = load_for(p, 20 * MS);
	print_message("%llu bytes in 20 ms, at most %llu slices in flight\n",
		(unsigned long long)bytes, (unsigned long long)p->most_in_flight / SLICE);
	assert_true(bytes > 19 * MS); /* 1 byte/ns */
	assert_in_range(p->most_in_flight, 2 * SLICE, 4 * SLICE);
	pair_free(p);
}

/* When the link gets slower, round trips and window follow. */
static void window_shrinks_with_the_rate(void **state)
{
	struct pair *p = begin(1, 8);
	uint64_t fast;

	p->one_link = true;
	for (uint32_t i = 0; i < PAIR_PATHS; i++)
		p->path[i].delay = 250 * US; /* rate * RTT: 500 KB */
	pair_run(p, p->now + SECOND);
	for (uint32_t i = 0; i < PAIR_PATHS; i++)
		hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], i);
	pair_run(p, p->now + 100 * MS);
	assert_true(load_for(p, 40 * MS) > 36 * MS);
	p->most_in_flight = 0;
	assert_true(load_for(p, 40 * MS) > 38 * MS);
	fast = p->most_in_flight;
	p->path[0].rate /= 8;
	load_for(p, 100 * MS);
	p->most_in_flight = 0;
	assert_true(load_for(p, 40 * MS) > 4 * MS);
	print_message("most in flight: %llu, then %llu slices\n", (unsigned long long)fast / SLICE,
		(unsigned long long)p->most_in_flight / SLICE);
	assert_in_range(fast, 8 * SLICE, 20 * SLICE);
	assert_in_range(p->most_in_flight, 2 * SLICE, 6 * SLICE);
	pair_free(p);
}

static void two_rails_carry_twice_as_much(void **state)
{
	uint64_t bytes[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct pair *p = begin(1 + i, 1);

		load_for(p, 20 * MS);
		bytes[i] = load_for(p, 50 * MS);
		pair_free(p);
	}
	print_message("%llu and %llu bytes in 50 ms\n", (unsigned long long)bytes[0],
		(unsigned long long)bytes[1]);
	assert_true(bytes[0] > 47 * MS);
	assert_true(bytes[1] * 10 > bytes[0] * 19);
}

/* Two rails whose round trips differ: 20 us and 1 ms. */
static void a_long_rail_takes_its_part(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	p->path[1].delay = 500 * US;
	pair_run(p, p->now + 10 * MS);
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_run(p, p->now + 50 * MS);
	load_for(p, 50 * MS);
	p->path[0].bytes = p->path[1].bytes = 0;
	load_for(p, 50 * MS);
	print_message("%llu and %llu bytes in 50 ms\n", (unsigned long long)p->path[0].bytes,
		(unsigned long long)p->path[1].bytes);
	assert_true(p->path[0].bytes > 47 * MS);
	assert_true(p->path[1].bytes > 30 * MS); /* 35 MB with windows of paths only, too */
	pair_free(p);
}

/* Requests of a path that answers nothing take no room from other paths after a few ms. */
static void a_dead_path_holds_no_other(void **state)
{
	struct pair *p = begin(1, 2);

	load_for(p, 20 * MS);
	p->path[1].dead = true;
	p->path[0].bytes = 0;
	load_for(p, 20 * MS);
	assert_int_equal(pair_info(p, 0, 1).failures, 0); /* it is not known to be dead */
	print_message("%llu bytes in 20 ms\n", (unsigned long long)p->path[0].bytes);
	assert_true(p->path[0].bytes > 18 * MS);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_a_link_share_a_window),
		cmocka_unit_test(window_shrinks_with_the_rate),
		cmocka_unit_test(two_rails_carry_twice_as_much),
		cmocka_unit_test(a_long_rail_takes_its_part),
		cmocka_unit_test(a_dead_path_holds_no_other),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
