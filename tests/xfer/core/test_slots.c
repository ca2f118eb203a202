/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of writes that count: when the sender uses a slot again. */
#include "tests/xfer/core/pair.h"

#define SMALL_SLOTS (HP3X_SLOTS - 64u)
#define FIRST       5u /* counter of the write whose immediate is late, or comes twice */
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
 * A write on path 1 is cancelled in flight, and acknowledged. Core 1 does not handle its immediate
 * yet. Path 0 opens again; path 1 is so slow that no other write takes it.
 */
static struct pair *late_immediate_begin(void)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	int64_t op;

	p->path[1].delay = 5 * MS;
	pair_run(p, p->now + 50 * MS);
	assert_int_equal(pair_info(p, 0, 1).state, HP3X_PATH_UP);
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 0);
	pair_drain(p);
	p->path[1].keeps = true;
	op = pair_write(p, 1000, FIRST, ADD);
	assert_true(op > 0);
	pair_drain(p);
	assert_int_equal(hp3x_core_cancel(p->core[0], p->now, op), 0);
	pair_run(p, p->now + 100 * MS);
	assert_int_equal(pair_info(p, 0, 0).state, HP3X_PATH_UP);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_CANCELLED);
	assert_int_equal(p->path[1].n_kept, 1);
	return p;
}

/*
 * So many writes follow that the first slot would be used again, with the other generation. Then
 * core 1 handles the immediate: it is still that of its own write.
 */
static void late_immediate_meets_its_write(void **state)
{
	struct pair *p = late_immediate_begin();
	uint32_t n = SMALL_SLOTS;

	for (uint32_t i = 0; i < n; i++)
		write_one(p, OTHERS, 1);
	assert_int_equal(p->path[1].n_kept, 1);
	assert_int_equal(p->counter[OTHERS], n);
	pair_deliver(p, 1);
	pair_run(p, p->now + MS);
	assert_int_equal(p->state[0], HP3X_PEER_UP);
	assert_int_equal(p->counter[FIRST], ADD);
	assert_int_equal(p->counter[OTHERS], n);
	pair_free(p);
}

/* When core 1 has handled the immediate, writes may use all slots. One more write waits. */
static void slot_of_a_cancelled_write_returns(void **state)
{
	struct pair *p = late_immediate_begin();
	uint32_t ended = p->n_ended, posts = (uint32_t)(p->path[0].posts + p->path[1].posts);

	pair_deliver(p, 1);
	pair_run(p, p->now + MS);
	p->path[0].mute = p->path[1].mute = true;
	for (uint32_t i = 0; i < SMALL_SLOTS + 1; i++)
		assert_true(pair_write(p, 1, OTHERS, 1) > 0);
	pair_run(p, p->now + 10 * MS);
	assert_int_equal(p->n_ended, ended);
	assert_int_equal(p->path[0].posts + p->path[1].posts, posts + SMALL_SLOTS);
	pair_free(p);
}

static void arrive(struct pair *p, uint32_t imm)
{
	hp3x_core_arrived(p->core[1], p->now, (uint32_t)p->peer[1], 0, imm);
	pair_drain(p);
}

/* A peer that repeats immediates: of a slice, and of a write that has been counted. */
static void repeated_immediates_count_once(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	const uint32_t slot = 1000, imm = (slot << 1 | 1) << 20;
	/* BEGIN: slot 1000, generation 1, two slices. */
	const uint8_t begin[] = {
		6, (slot << 1 | 1) & 0xff, slot >> 7, FIRST, 0, 2, 0, ADD, 0, 0, 0};

	pair_run(p, p->now + MS);
	p->stalled = true; /* core 0 knows nothing of this write */
	assert_int_equal(
		hp3x_core_message(p->core[1], p->now, (uint32_t)p->peer[1], begin, sizeof(begin)),
		0);
	arrive(p, imm);
	arrive(p, imm);
	assert_int_equal(p->counter[FIRST], 0);
	arrive(p, imm | 1 << 8);
	assert_int_equal(p->counter[FIRST], ADD);
	arrive(p, imm);
	arrive(p, 1u << 31 | imm | OTHERS << 8 | 1);
	assert_int_equal(p->counter[FIRST], ADD);
	assert_int_equal(p->counter[OTHERS], 0);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_immediate_meets_its_write),
		cmocka_unit_test(slot_of_a_cancelled_write_returns),
		cmocka_unit_test(repeated_immediates_count_once),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
