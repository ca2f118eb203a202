/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsolicited packets in large numbers cost no more than other packets: keys, replies without a
 * flow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include "engine/flows/keys.h"
#include "engine/life/life.h"
#include "packets.h"

#define CHOSEN  64u
#define REGULAR 4096u

static struct hp3_engine *engine(uint64_t hash_seed)
{
	struct hp3_engine_config cfg = rig.cfg;
	size_t size;

	cfg.max_flows = 16384;
	cfg.hash_seed = hash_seed;
	size = hp3_engine_size(&cfg);
	return hp3_engine_create(aligned_alloc(64, size), size, &cfg);
}

static uint32_t bucket_of(const struct hp3_engine *e, uint32_t remote, uint32_t qpn)
{
	struct hp3_key k = {.addr = 0x0a090001ull << 32 | remote, .qpn = qpn, .dir = HP3_DIR_RX};
	uint32_t sig, bucket;

	hp3_key_hash(e, &k, &sig, &bucket);
	return bucket;
}

/* Keys in the fullest bucket. */
static uint32_t most(const struct hp3_engine *e, const uint32_t (*key)[2], uint32_t n)
{
	uint8_t *count = calloc(e->table.mask + 1, 1);
	uint32_t m = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t c = ++count[bucket_of(e, key[i][0], key[i][1])];

		m = c > m ? c : m;
	}
	free(count);
	return m;
}

static void chosen_keys_meet_under_one_seed_only(void **state)
{
	struct hp3_engine *e = engine(1);
	uint32_t key[CHOSEN][2], n = 0;

	for (uint32_t i = 1; n < CHOSEN; i++) {
		if (bucket_of(e, 0x0a090002 + (i >> 16), i & 0xffff) != 7)
			continue;
		key[n][0] = 0x0a090002 + (i >> 16);
		key[n++][1] = i & 0xffff;
	}
	assert_int_equal(most(e, key, CHOSEN), CHOSEN);
	free(e);
	for (uint64_t seed = 2; seed < 50; seed++) {
		e = engine(seed);
		assert_in_range(most(e, key, CHOSEN), 1, 4);
		free(e);
	}
}

/* Addresses and QPNs at equal distances, whatever the distance: as if they were drawn. */
static void regular_keys_spread(void **state)
{
	static uint32_t key[REGULAR][2];

	for (uint64_t seed = 0; seed < 8; seed++) {
		struct hp3_engine *e = engine(seed);

		for (unsigned by = 0; by < 19; by++) {
			for (uint32_t i = 0; i < REGULAR; i++) {
				key[i][0] = 0x0a090002 + (by < 12 ? 0 : i % 64 << 2 * (by - 12));
				key[i][1] = by < 12 ? i << by & HP3_QPN_MASK : i / 64 << (by - 12);
			}
			assert_in_range(most(e, key, REGULAR), 1, 12);
		}
		free(e);
	}
}

#define FLOWS 128u /* so far from each other that none can be meant for another one */

static uint32_t begins_at(uint32_t flow)
{
	return flow << 17;
}

static void many_unpaired(void)
{
	rig.cfg.pair_by_challenge = true;
	rig.cfg.max_flows = 2 * FLOWS;
	rig_configure();
	for (unsigned i = 0; i < FLOWS; i++) {
		struct qp q = make_qp(i);

		last(&q, begins_at(i));
		rig.nwire = 0;
	}
}

static void strays(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct qp q = make_qp(0x4000 + i % 100);

		ack(&q, i * 7919 & HP3_PSN_MASK);
	}
}

/* ACKs to queue pairs that nobody has, among many flows: none of these is gone through. */
static void strays_are_looked_up(void **state)
{
	many_unpaired();
	strays(10000);
	assert_int_equal(rig.e->strays_until, 0);
	assert_int_equal(stats()->contradictions, 0);
}

/* ... and what flows wait for is found at once, among any number of them. */
static void answers_are_found_among_strays(void **state)
{
	struct qp q = make_qp(FLOWS / 2);
	uint32_t psn = begins_at(FLOWS / 2);

	many_unpaired();
	strays(10000);
	for (uint32_t i = 1; i <= 3; i++) {
		last(&q, psn + i);
		strays(100);
		ack(&q, psn + i);
	}
	assert_int_equal(info(&q).pairing, HP3_PAIRING_CHALLENGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(chosen_keys_meet_under_one_seed_only),
		RIG_TEST(regular_keys_spread),
		RIG_TEST(strays_are_looked_up),
		RIG_TEST(answers_are_found_among_strays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
