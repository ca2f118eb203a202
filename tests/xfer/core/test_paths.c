/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of the core of libhp3x: shares, windows, back-off, openings. */
#include "tests/xfer/core/pair.h"

#define LENGTH (1u << 20)

/* Keeps four writes of 1 MiB under way. */
static void load(struct pair *p, uint64_t until)
{
	static const uint32_t most = 4;

	while (p->now < until) {
		while (p->written < p->n_ended + most) {
			assert_true(pair_write(p, LENGTH, 0, 0) > 0);
			p->written++;
		}
		if (p->n_ended > PAIR_ENDS / 2) {
			p->written -= p->n_ended;
			p->n_ended = 0;
		}
		pair_run(p, p->now + 100 * US < until ? p->now + 100 * US : until);
	}
}

static void load_begin(struct pair *p)
{
	pair_run(p, p->now + MS);
}

static void a_slow_path_gets_its_share(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	uint64_t all, slow;

	load_begin(p);
	load(p, p->now + 20 * MS);
	assert_in_range(p->path[1].bytes * 100 / (p->path[0].bytes + p->path[1].bytes), 40, 60);
	p->path[1].rate /= 10;
	load(p, p->now + 5 * MS);
	all = p->path[0].bytes + p->path[1].bytes;
	slow = p->path[1].bytes;
	load(p, p->now + 50 * MS);
	all = p->path[0].bytes + p->path[1].bytes - all;
	slow = p->path[1].bytes - slow;
	print_message("slow path: %llu of %llu bytes\n", (unsigned long long)slow,
		(unsigned long long)all);
	assert_in_range(slow * 1000 / all, 60, 130); /* right: 91 */
	assert_true(all > 50 * MS); /* the other path is full: 1 byte/ns */
	p->path[1].rate *= 10;
	load(p, p->now + 50 * MS);
	slow = p->path[1].bytes;
	load(p, p->now + 10 * MS);
	assert_true(p->path[1].bytes - slow > 9 * MS); /* its full rate again */
	assert_int_equal(pair_info(p, 0, 1).failures, 0);
	pair_free(p);
}

static void a_slow_path_does_not_hold_the_tail(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	uint64_t took;

	p->path[1].rate /= 10;
	load_begin(p);
	load(p, p->now + 20 * MS);
	pair_run(p, p->now + 50 * MS);
	p->n_ended = 0;
	assert_true(pair_write(p, 16 * LENGTH, 0, 0) > 0);
	pair_run(p, p->now + 100 * MS);
	assert_int_equal(p->n_ended, 1);
	took = p->ended[0].ended - p->ended[0].began;
	print_message("%llu us\n", (unsigned long long)(took / US));
	assert_true(took < 17 * MS); /* both paths: 15.3 ms; the fast path alone: 16.8 ms */
	pair_free(p);
}

/* The other path has a long round trip, so the window of both paths is large. */
static void windows_are_bounded(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	p->path[1].delay = 500 * US;
	load_begin(p);
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_run(p, p->now + 50 * MS);
	load(p, p->now + 20 * MS);
	/* Twice rate * RTT: 1 GB/s, 20 us and 65.5 us for the slice. */
	assert_in_range(p->path[0].most_in_flight, 2 * 65536, 4 * 65536);
	assert_true(p->path[0].bytes > 15 * MS);
	pair_free(p);
}

static void a_path_that_returns_is_full_within_two_seconds(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	uint64_t before;

	load_begin(p);
	load(p, p->now + 20 * MS);
	p->path[1].dead = true;
	load(p, p->now + 5 * SECOND + 17 * MS);
	assert_int_not_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	p->path[1].dead = false;
	load(p, p->now + 2 * SECOND);
	before = p->path[1].bytes;
	load(p, p->now + 10 * MS);
	assert_true(p->path[1].bytes - before > 9 * MS);
	pair_free(p);
}

/* Loads the paths, then path 1 answers nothing. Returns the time until the path has failed. */
static uint64_t time_until_left(struct pair *p)
{
	uint64_t since = p->now;

	p->path[1].dead = true;
	while (pair_info(p, 0, 1).state == HP3X_PATH_UP && p->now < since + SECOND)
		load(p, p->now + 100 * US);
	return p->now - since;
}

static void a_steady_path_is_left_soon(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p;
	uint64_t took[3];

	c.hang_least_ns = 20 * MS;
	p = pair_create(&c);
	load_begin(p);
	load(p, p->now + 100 * MS);
	took[0] = time_until_left(p); /* the path is new */
	p->path[1].dead = false;
	load(p, p->now + 4 * SECOND);
	took[1] = time_until_left(p);
	p->path[1].dead = false;
	load(p, p->now + 4 * SECOND);
	/* The network stalls for 11 ms: requests of the next seconds may be four times as late. */
	p->path[1].free_at = p->now + 11 * MS;
	load(p, p->now + 100 * MS);
	assert_int_equal(pair_info(p, 0, 1).failures, 2);
	took[2] = time_until_left(p);
	print_message("new %llu ms, steady %llu ms, after a stall %llu ms\n",
		(unsigned long long)(took[0] / MS), (unsigned long long)(took[1] / MS),
		(unsigned long long)(took[2] / MS));
	assert_in_range(took[0], 50 * MS, 53 * MS);
	assert_in_range(took[1], 20 * MS, 23 * MS);
	assert_in_range(took[2], 40 * MS, 53 * MS);
	pair_free(p);
}

/* All paths are so slow that slices seem to hang: others fill the network. */
static void a_crowded_network_ends_ops(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	pair_run(p, p->now + 50 * MS);
	p->path[0].rate = p->path[1].rate = 100000; /* a slice takes 655 ms */
	assert_true(pair_write(p, LENGTH / 4, 5, 1) > 0);
	pair_run(p, p->now + 10 * SECOND);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_OK);
	assert_int_equal(p->counter[5], 1);
	pair_free(p);
}

static void back_off_doubles(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	p->path[1].closed = true;
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_drain(p);
	p->path[1].opens = 0;
	pair_run(p, p->now + 20 * SECOND);
	/* 10, 20, ... 640 ms, then 1 to 1.25 s. */
	assert_in_range(p->path[1].opens, 7 + 14, 7 + 20);
	p->path[1].closed = false;
	pair_run(p, p->now + 1300 * MS);
	assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	pair_free(p);
}

/* Messages of the first opening, in the second one. */
static void older_openings_count_no_more(void **state)
{
	static const uint8_t kinds[] = {2, 3, 4, 5}; /* ANSWER, READY, DOWN, FENCED */
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	pair_run(p, p->now + MS);
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_run(p, p->now + SECOND);
	assert_int_equal(pair_info(p, 0, 1).openings, 2);
	p->path[1].closed = true;
	for (uint32_t i = 0; i < 4; i++) {
		uint8_t message[10] = {kinds[i], 1, 1, 0, 0, 0, 0};

		assert_int_equal(
			hp3x_core_message(p->core[0], p->now, (uint32_t)p->peer[0], message,
				kinds[i] == 2   ? 7
				: kinds[i] == 5 ? 10
						: 6),
			0);
		pair_drain(p);
		assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	}
	/* While a fence is awaited, an older one is not it. */
	p->stalled = true;
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_drain(p);
	assert_int_equal(hp3x_core_message(p->core[0], p->now, (uint32_t)p->peer[0],
				 (uint8_t[]){5, 1, 1, 0, 0, 0, 0, 0, 0, 0}, 10),
		0);
	p->path[1].opens = 0;
	pair_run(p, p->now + SECOND);
	assert_int_equal(p->path[1].opens, 0);
	pair_free(p);
}

static void rails_go_and_return(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	pair_run(p, p->now + MS);
	hp3x_core_rail(p->core[1], p->now, 1, false);
	pair_run(p, p->now + 3 * SECOND);
	assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_DOWN);
	assert_int_equal(pair_info(p, 0, 0).state, HP3X_PATH_UP);
	hp3x_core_rail(p->core[1], p->now, 1, true);
	pair_run(p, p->now + 1300 * MS);
	assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	hp3x_core_rail(p->core[0], p->now, 0, false);
	pair_drain(p);
	hp3x_core_rail(p->core[0], p->now, 0, true);
	pair_run(p, p->now + MS); /* its own rail: at once */
	assert_int_equal(pair_info(p, 0, 0).state, HP3X_PATH_UP);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_path_gets_its_share),
		cmocka_unit_test(a_slow_path_does_not_hold_the_tail),
		cmocka_unit_test(windows_are_bounded),
		cmocka_unit_test(a_path_that_returns_is_full_within_two_seconds),
		cmocka_unit_test(a_steady_path_is_left_soon),
		cmocka_unit_test(a_crowded_network_ends_ops),
		cmocka_unit_test(back_off_doubles),
		cmocka_unit_test(older_openings_count_no_more),
		cmocka_unit_test(rails_go_and_return),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
