/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of applications' local queue pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/verbs/claims.h"
#include "base/random.h"

#define MOST 64u

static struct hp3_qp_event queue_pair(unsigned address, uint32_t lqpn)
{
	struct hp3_qp_event qp = {.lqpn = lqpn, .ipv6 = address % 2};

	qp.local[0] = (uint8_t)address;
	return qp;
}

/* Any order of adding and dropping: the table has what a plain list has. */
static void as_a_plain_list_has_them(void **state)
{
	bool has[4][40] = {0};
	struct hp3d_claims c;
	uint64_t rng = 1;
	uint32_t n = 0;

	assert_int_equal(hp3d_claims_open(&c, MOST, 7), 0);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned a = hp3_random_below(&rng, 4), q = hp3_random_below(&rng, 40);
		struct hp3_qp_event qp = queue_pair(a, q);

		assert_int_equal(hp3d_claims_has(&c, &qp), has[a][q]);
		if (hp3_random_below(&rng, 2)) {
			hp3d_claims_drop(&c, &qp);
			n -= has[a][q];
			has[a][q] = false;
		} else if (n < MOST) {
			hp3d_claims_add(&c, &qp);
			n += !has[a][q];
			has[a][q] = true;
		}
		assert_int_equal(c.n, n);
	}
	hp3d_counts_close(&c.table);
}

static void full_it_takes_no_more(void **state)
{
	struct hp3d_claims c;
	struct hp3_qp_event qp;

	assert_int_equal(hp3d_claims_open(&c, MOST, 7), 0);
	for (unsigned i = 0; i < 2 * MOST; i++) {
		qp = queue_pair(0, i);
		hp3d_claims_add(&c, &qp);
		assert_int_equal(hp3d_claims_has(&c, &qp), i < MOST);
	}
	hp3d_counts_close(&c.table);
}

/* The longest run of buckets in use: what a look may cost. */
static uint32_t longest_run(const struct hp3d_claims *c)
{
	uint32_t run = 0, most = 0;

	for (uint32_t i = 0; i < 2 * c->table.buckets; i++) {
		run = c->table.at[i % c->table.buckets].n != 0 ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

/* Numbers that are near each other under one seed are not under another. */
static void chosen_queue_pairs_meet_under_one_seed_only(void **state)
{
	struct hp3d_claims chosen, other;
	struct hp3_qp_event qp;

	assert_int_equal(hp3d_claims_open(&chosen, 512, 7), 0);
	assert_int_equal(hp3d_claims_open(&other, 512, 8), 0);
	for (uint32_t q = 0; q < 1u << 20 && chosen.n < 256; q++) {
		uint32_t before = longest_run(&chosen);

		qp = queue_pair(0, q);
		hp3d_claims_add(&chosen, &qp);
		if (longest_run(&chosen) != before + 1) {
			hp3d_claims_drop(&chosen, &qp);
			continue;
		}
		hp3d_claims_add(&other, &qp);
	}
	assert_int_equal(longest_run(&chosen), 256);
	assert_in_range(longest_run(&other), 1, 64);
	hp3d_counts_close(&chosen.table);
	hp3d_counts_close(&other.table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_plain_list_has_them),
		cmocka_unit_test(full_it_takes_no_more),
		cmocka_unit_test(chosen_queue_pairs_meet_under_one_seed_only),
	};

	return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
