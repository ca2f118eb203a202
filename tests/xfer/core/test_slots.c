/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of writes that count: when the sender uses a slot again. */
#include "tests/xfer/core/pair.h"

#define SMALL_SLOTS (HP3X_SLOTS - 64u)
#define FIRST       5u /* counter of the write that is sent twice */
#define OTHERS      6u
#define ADD         3u

/* Writes one slice with a counter, and waits for its end. */
static void write_one(struct pair *p, uint32_t counter, uint32_t add)
{
	uint32_t ended = p->n_ended;

	assert_true(pair_write(p, 1000, counter, add) > 0);
	pair_run(p, p->now + 30 * MS);
	assert_int_equal(p->n_ended, ended + 1);
	assert_int_equal(p->ended[ended].status, HP3X_OK);
}

/*
 * The write is executed on path 0, which then fails before the acknowledgement. Its second copy is
 * executed on path 1 and acknowledged. Core 1 does not handle that immediate yet. Path 0 opens
 * again; path 1 is so slow that no other write takes it.
 */
static struct pair *second_copy_begin(void)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	p->path[1].delay = 5 * MS;
	pair_run(p, p->now + 50 * MS);
	assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	p->path[0].mute = true;
	p->path[1].keeps = true;
	assert_true(pair_write(p, 1000, FIRST, ADD) > 0);
	pair_run(p, p->now + MS);
	assert_int_equal(p->counter[FIRST], ADD);
	assert_int_equal(p->n_ended, 0);
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 0);
	p->path[0].mute = false;
	pair_run(p, p->now + 100 * MS);
	assert_int_equal(pair_info(p, 0, 0).state, HP3X_PATH_UP);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_OK);
	assert_int_equal(p->ended[0].again, 1);
	assert_int_equal(p->path[1].n_kept, 1);
	return p;
}

/*
 * So many writes follow that the first slot would be used again, with the other generation. Then
 * core 1 handles the immediate of the second copy: it changes no counter.
 */
static void late_second_copy_counts_nothing(void **state)
{
	struct pair *p = second_copy_begin();
	uint32_t n = SMALL_SLOTS;

	for (uint32_t i = 0; i < n; i++)
		write_one(p, OTHERS, 1);
	assert_int_equal(p->path[1].n_kept, 1);
	assert_int_equal(p->counter[OTHERS], n);
	pair_deliver(p, 1);
	pair_run(p, p->now + MS);
	assert_int_equal(p->counter[FIRST], ADD);
	assert_int_equal(p->counter[OTHERS], n);
	pair_free(p);
}

/* When core 1 has handled the immediate, writes may use all slots. One more write waits. */
static void slot_of_a_second_copy_returns(void **state)
{
	struct pair *p = second_copy_begin();
	uint32_t ended = p->n_ended;

	pair_deliver(p, 1);
	pair_run(p, p->now + MS);
	p->path[0].mute = p->path[1].mute = true;
	for (uint32_t i = 0; i < SMALL_SLOTS + 1; i++)
		assert_true(pair_write(p, 1, OTHERS, 1) > 0);
	pair_run(p, p->now + 10 * MS);
	assert_int_equal(p->n_ended, ended);
	assert_int_equal(p->path[0].posts + p->path[1].posts, 2 + SMALL_SLOTS);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_second_copy_counts_nothing),
		cmocka_unit_test(slot_of_a_second_copy_returns),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
