/* SPDX-License-Identifier: BSD-3-Clause */
/* Full tables of the core of libhp3x, and ops that end while paths are shut. */
#include "tests/xfer/core/pair.h"

#define ROUNDS 3u

static void all_ended(struct pair *p, uint32_t n)
{
	pair_run(p, p->now + SECOND);
	assert_int_equal(p->n_ended, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(p->ended[i].status, HP3X_OK);
	p->n_ended = 0;
}

static void ops_are_limited_and_return(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p;

	c.ops = 8;
	p = pair_create(&c);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < c.ops; i++)
			assert_true(pair_write(p, 100000, 1, 1) > 0);
		assert_int_equal(pair_write(p, 1, 1, 1), -EAGAIN);
		all_ended(p, c.ops);
	}
	assert_int_equal(p->counter[1], ROUNDS * c.ops);
	pair_free(p);
}

static int64_t pages_write(struct pair *p)
{
	static struct hp3x_page page[HP3X_MOST_PAGES];
	struct hp3x_remote to = pair_remote(p);

	for (uint32_t i = 0; i < HP3X_MOST_PAGES; i++)
		page[i] = (struct hp3x_page){i * 100ull, i * 200ull, 10};
	return hp3x_core_write_pages(p->core[0], p->now, (uint32_t)p->peer[0],
		&(struct hp3x_pages){.to = &to,
			.page = page,
			.n_pages = HP3X_MOST_PAGES,
			.counter = 1,
			.add = 1});
}

/* An op that is refused, because its last page is outside of the region, takes no memory. */
static void wrong_pages_write(struct pair *p)
{
	static struct hp3x_page page[HP3X_MOST_PAGES];
	struct hp3x_remote to = pair_remote(p);

	page[HP3X_MOST_PAGES - 1] = (struct hp3x_page){0, to.length, 1};
	assert_int_equal(
		hp3x_core_write_pages(p->core[0], p->now, (uint32_t)p->peer[0],
			&(struct hp3x_pages){.to = &to, .page = page, .n_pages = HP3X_MOST_PAGES}),
		-EINVAL);
}

static void memory_of_pages_is_limited_and_returns(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p;

	c.ops = 16;
	p = pair_create(&c);
	pair_run(p, p->now + MS);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t n = 0;
		int64_t op = 1;

		for (uint32_t i = 0; i < 16; i++)
			wrong_pages_write(p);
		for (; op > 0; n += op > 0)
			op = pages_write(p);
		assert_int_equal(op, -EAGAIN);
		assert_int_equal(n, 5); /* 4,096 pages are 205 of 1,024 + 16 chunks */
		all_ended(p, n);
	}
	assert_int_equal(p->counter[1], 5 * ROUNDS);
	pair_free(p);
}

/* More ops than slots: they wait for a slot, and each counts once. */
static void slots_are_limited_and_return(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p;

	c.slice_bytes = 64;
	p = pair_create(&c);
	pair_run(p, p->now + MS);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		p->stalled = true; /* slots are free again only when the peer has said COUNTED */
		for (uint32_t i = 0; i < HP3X_SLOTS; i++)
			assert_true(pair_write(p, 64, 2, 1) > 0);
		for (uint32_t i = 0; i < 100; i++) /* of 65 slices: they need a large slot */
			assert_true(pair_write(p, 65 * 64, 3, 1000) > 0);
		pair_run(p, p->now + 100 * MS);
		assert_int_equal(p->n_ended, HP3X_SLOTS - 64 + 64);
		p->stalled = false;
		all_ended(p, HP3X_SLOTS + 100);
		assert_int_equal(p->counter[2], (round + 1) * HP3X_SLOTS);
		assert_int_equal(p->counter[3], (round + 1) * 100 * 1000);
	}
	pair_free(p);
}

static void peers_are_limited_and_return(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	int peer[4];

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 1; i < c.peers; i++) {
			peer[i] = hp3x_core_peer_add(p->core[0], p->now);
			assert_true(peer[i] >= 0 && peer[i] < 4 && peer[i] != p->peer[0]);
		}
		assert_int_equal(hp3x_core_peer_add(p->core[0], p->now), -ENOBUFS);
		for (uint32_t i = 1; i < c.peers; i++) {
			assert_false(hp3x_core_peer_free(p->core[0], (uint32_t)peer[i]));
			hp3x_core_peer_close(p->core[0], p->now, (uint32_t)peer[i]);
			pair_drain(p);
			assert_true(hp3x_core_peer_free(p->core[0], (uint32_t)peer[i]));
		}
	}
	assert_true(pair_write(p, 100, 1, 1) > 0);
	all_ended(p, 1);
	pair_free(p);
}

static void paths_are_limited(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct hp3x_greeting other = {.identity = 3, .rails = 8, .paths_per_rail = 100};
	uint32_t local, remote;
	struct hp3x_core *core;
	void *memory;
	int peer;

	c.identity = 9;
	c.rails = HP3X_RAILS;
	c.paths_per_rail = HP3X_MOST_PATHS / HP3X_RAILS + 1;
	assert_int_equal(hp3x_core_size(&c), 0);
	c.paths_per_rail--;
	memory = aligned_alloc(64, hp3x_core_size(&c));
	core = hp3x_core_create(&c, memory, SECOND);
	peer = hp3x_core_peer_add(core, SECOND);
	assert_int_equal(hp3x_core_peer_up(core, SECOND, (uint32_t)peer, &other), 0);
	assert_true(hp3x_core_path_rails(core, 0, HP3X_MOST_PATHS - 1, &local, &remote));
	assert_true(local < HP3X_RAILS && remote < 8);
	assert_false(hp3x_core_path_rails(core, 0, HP3X_MOST_PATHS, &local, &remote));
	free(memory);
}

/* All slices were acknowledged on another path, but the failed path is not fenced. */
static void a_deadline_passes_while_a_fence_is_awaited(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	struct hp3x_remote to = pair_remote(p);
	uint64_t deadline;

	pair_run(p, p->now + MS);
	deadline = p->now + 500 * MS;
	assert_true(hp3x_core_write(p->core[0], p->now, (uint32_t)p->peer[0],
			    &(struct hp3x_write){.common = {.deadline = deadline},
				    .to = &to,
				    .length = 4 << 20,
				    .counter = 1,
				    .add = 1}) > 0);
	pair_run(p, p->now + 100 * US);
	assert_true(pair_info(p, 0, 1).in_flight > 0);
	p->stalled = true;
	hp3x_core_path_failed(p->core[0], p->now, (uint32_t)p->peer[0], 1);
	pair_run(p, deadline - 1);
	assert_int_equal(pair_info(p, 0, 0).in_flight, 0);
	assert_int_equal(p->n_ended, 0);
	pair_run(p, deadline);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_TIMED_OUT);
	assert_int_equal(p->ended[0].ended, deadline);
	/* The slot counts again once the peer has answered. */
	p->stalled = false;
	p->n_ended = 0;
	assert_true(pair_write(p, 4 << 20, 2, 5) > 0);
	all_ended(p, 1);
	assert_int_equal(p->counter[2], 5);
	pair_free(p);
}

static void a_peer_is_lost_while_a_path_is_shut(void **state)
{
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	uint32_t peer = (uint32_t)p->peer[0];

	pair_run(p, p->now + MS);
	assert_true(pair_write(p, 4 << 20, 1, 1) > 0);
	pair_run(p, p->now + 100 * US);
	p->holds = true;
	hp3x_core_path_failed(p->core[0], p->now, peer, 1);
	pair_drain(p);
	hp3x_core_peer_lost(p->core[0], p->now, peer);
	pair_run(p, p->now + 100 * MS);
	assert_int_equal(p->state[0], HP3X_PEER_GONE);
	assert_int_equal(p->n_ended, 0); /* both paths may still read its memory */
	hp3x_core_shut(p->core[0], p->now, peer, 0);
	pair_drain(p);
	assert_int_equal(p->n_ended, 0);
	assert_false(hp3x_core_peer_free(p->core[0], peer));
	hp3x_core_shut(p->core[0], p->now, peer, 1);
	pair_drain(p);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_PEER_LOST);
	assert_true(hp3x_core_peer_free(p->core[0], peer));
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ops_are_limited_and_return),
		cmocka_unit_test(memory_of_pages_is_limited_and_returns),
		cmocka_unit_test(slots_are_limited_and_return),
		cmocka_unit_test(peers_are_limited_and_return),
		cmocka_unit_test(paths_are_limited),
		cmocka_unit_test(a_deadline_passes_while_a_fence_is_awaited),
		cmocka_unit_test(a_peer_is_lost_while_a_path_is_shut),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
