/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four domains in one process, on the same two rails: all write to all, and one of them closes and
 * returns. Descriptors of the domain that closed are stale. Domain 0 has no thread: the test
 * decides when it learns of a peer.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "two_domains.h"

#define DOMAINS 4u
#define PART    (256u << 10) /* of a region, for each writer */
#define ROUNDS  10u

struct node {
	struct hp3x_domain *domain;
	struct hp3x_region *region; /* PART bytes of each writer, and PART bytes to write from */
	uint8_t *bytes, descriptor[HP3X_DESCRIPTION];
	size_t descriptor_length;
	struct hp3x_peer *peer[DOMAINS]; /* that it connected to */
	uint32_t ok, not_ok;
	enum hp3x_status last;
};

static struct node nodes[DOMAINS];

static void node_open(uint32_t i)
{
	const char *rails[] = {"127.0.0.1", "127.0.0.2"};
	struct hp3x_options o = {.provider = "tcp",
		.rails = rails,
		.n_rails = 2,
		.listen = "127.0.0.1:0",
		.own_progress = i == 0};
	struct node *n = &nodes[i];
	int length;

	*n = (struct node){.bytes = calloc(DOMAINS + 1, PART)};
	if (hp3x_open(&o, &n->domain) < 0)
		fail_msg("hp3x_open: %s", hp3x_error());
	bytes_fill(n->bytes + DOMAINS * PART, PART, i);
	assert_int_equal(hp3x_region_add(n->domain, n->bytes, (DOMAINS + 1) * PART, &n->region), 0);
	length = hp3x_region_describe(n->region, n->descriptor, sizeof(n->descriptor));
	assert_true(length > 0);
	n->descriptor_length = (size_t)length;
}

static void node_close(uint32_t i)
{
	hp3x_close(nodes[i].domain);
	free(nodes[i].bytes);
	nodes[i].domain = NULL;
}

static void node_connect(uint32_t from, uint32_t to)
{
	assert_int_equal(hp3x_connect(nodes[from].domain, hp3x_address(nodes[to].domain),
				 &nodes[from].peer[to]),
		0);
}

static struct hp3x_remote remote_of(uint32_t i)
{
	struct hp3x_remote r;

	assert_int_equal(hp3x_remote_read(nodes[i].descriptor, nodes[i].descriptor_length, &r), 0);
	return r;
}

static int64_t node_write(uint32_t from, uint32_t to, const struct hp3x_remote *remote)
{
	return hp3x_write(nodes[from].peer[to], &(struct hp3x_write){.from = nodes[from].region,
							.from_offset = DOMAINS * PART,
							.to = remote,
							.to_offset = from * PART,
							.length = PART,
							.counter = from,
							.add = 1});
}

static void completions_take(struct node *n)
{
	struct hp3x_completion c[16];
	int found;

	hp3x_progress(nodes[0].domain);
	found = hp3x_poll(n->domain, c, 16);

	for (int i = 0; i < found; i++) {
		n->ok += c[i].status == HP3X_OK;
		n->last = c[i].status;
		n->not_ok += c[i].status != HP3X_OK;
	}
	if (found == 0)
		poll(&(struct pollfd){hp3x_fd(n->domain), POLLIN, 0}, 1, 20);
}

/* The status with which the only op of a domain ends. */
static enum hp3x_status end_wait(uint32_t i, int64_t op)
{
	uint64_t until = deadline_in(PATIENCE);
	struct node *n = &nodes[i];

	n->ok = n->not_ok = 0;
	assert_true(op > 0);
	while (n->ok + n->not_ok == 0) {
		assert_true(deadline_in(0) < until);
		completions_take(n);
	}
	return n->last;
}

/* Each domain that is open writes its bytes to all others, `rounds` times. */
static void all_write(uint32_t rounds)
{
	uint64_t until = deadline_in(PATIENCE);
	uint32_t open = 0;

	for (uint32_t i = 0; i < DOMAINS; i++) {
		open += nodes[i].domain != NULL;
		nodes[i].ok = 0;
	}
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t from = 0; from < DOMAINS; from++)
			for (uint32_t to = 0; to < DOMAINS; to++) {
				struct hp3x_remote r;

				if (from == to || !nodes[from].domain || !nodes[to].domain)
					continue;
				r = remote_of(to);
				if (node_write(from, to, &r) < 0)
					fail_msg("%u to %u: %s", from, to, hp3x_error());
			}
	for (uint32_t i = 0; i < DOMAINS; i++)
		while (nodes[i].domain != NULL && nodes[i].ok < (open - 1) * rounds) {
			assert_true(deadline_in(0) < until);
			completions_take(&nodes[i]);
		}
}

static void all_check(uint32_t to, uint32_t writes)
{
	uint8_t *expected = malloc(PART);

	for (uint32_t from = 0; from < DOMAINS; from++) {
		if (from == to)
			continue;
		assert_int_equal(
			hp3x_counter_wait(nodes[to].domain, from, writes, deadline_in(PATIENCE)),
			0);
		bytes_fill(expected, PART, from);
		assert_memory_equal(nodes[to].bytes + from * PART, expected, PART);
	}
	free(expected);
}

static int nodes_setup(void **state)
{
	for (uint32_t i = 0; i < DOMAINS; i++)
		node_open(i);
	for (uint32_t i = 0; i < DOMAINS; i++)
		for (uint32_t k = 0; k < DOMAINS; k++)
			if (i != k)
				node_connect(i, k);
	return 0;
}

static int nodes_teardown(void **state)
{
	for (uint32_t i = 0; i < DOMAINS; i++)
		if (nodes[i].domain != NULL)
			node_close(i);
	return 0;
}

static void gone_wait(uint32_t from, uint32_t to)
{
	uint64_t until = deadline_in(PATIENCE);

	while (hp3x_peer_state(nodes[from].peer[to]) != HP3X_PEER_GONE) {
		assert_true(deadline_in(0) < until);
		completions_take(&nodes[from]);
	}
}

static void all_pairs_write_and_one_returns(void **state)
{
	all_write(ROUNDS);
	for (uint32_t i = 0; i < DOMAINS; i++)
		all_check(i, ROUNDS);
	node_close(3);
	for (uint32_t i = 0; i < 3; i++) {
		gone_wait(i, 3);
		hp3x_peer_close(nodes[i].peer[3]);
	}
	all_write(ROUNDS); /* the others go on */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(nodes[i].not_ok, 0);
	node_open(3);
	for (uint32_t i = 0; i < 3; i++) {
		node_connect(i, 3);
		node_connect(3, i);
	}
	all_write(1);
	all_check(3, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(nodes[i].not_ok, 0);
}

/* Ops with the descriptor of a domain that has closed. */
static void stale_check(uint32_t from, uint32_t to, const struct hp3x_remote *stale)
{
	struct hp3x_page page = {0, 0, 8};
	struct hp3x_pages pages = {
		.from = nodes[from].region, .to = stale, .page = &page, .n_pages = 1};
	struct hp3x_read read = {.to = nodes[from].region, .from = stale, .length = 8};
	struct hp3x_peer *peer = nodes[from].peer[to];

	assert_int_equal(node_write(from, to, stale), -ESTALE);
	assert_non_null(strstr(hp3x_error(), "get a new one from the peer"));
	assert_int_equal(hp3x_write_pages(peer, &pages), -ESTALE);
	assert_int_equal(hp3x_read(peer, &read), -ESTALE);
}

static void stale_descriptors_are_refused(void **state)
{
	struct hp3x_remote stale = remote_of(3), right, wrong;

	all_write(1);
	node_close(3);
	gone_wait(0, 3);
	hp3x_peer_close(nodes[0].peer[3]);
	node_open(3);
	node_connect(0, 3);
	/* Nobody knows yet whose descriptor it is: the op ends when the peer has answered. */
	right = wrong = remote_of(3);
	wrong.domain ^= 1; /* its keys are right */
	assert_int_equal(end_wait(0, node_write(0, 3, &wrong)), HP3X_REFUSED);
	stale_check(0, 3, &stale);
	stale_check(0, 3, &wrong);
	wrong = right;
	wrong.n_rails = 1;
	stale_check(0, 3, &wrong);
	for (size_t i = 0; i < PART; i++)
		assert_int_equal(nodes[3].bytes[i], 0);
	assert_int_equal(end_wait(0, node_write(0, 3, &right)), HP3X_OK);
	assert_int_equal(hp3x_counter_wait(nodes[3].domain, 0, 1, deadline_in(PATIENCE)), 0);
}

/* A region that was removed and added again has another key: the old one is of no use. */
static void keys_of_removed_regions_are_refused(void **state)
{
	struct hp3x_remote old = remote_of(1);
	struct node *n = &nodes[1];

	all_write(1);
	assert_int_equal(hp3x_region_remove(n->region), 0);
	memset(n->bytes, 0, PART);
	assert_int_equal(hp3x_region_add(n->domain, n->bytes, (DOMAINS + 1) * PART, &n->region), 0);
	assert_int_equal(end_wait(0, node_write(0, 1, &old)), HP3X_REFUSED);
	for (size_t i = 0; i < PART; i++)
		assert_int_equal(n->bytes[i], 0);
}

int main(void)
{
#define WITH_NODES(test) cmocka_unit_test_setup_teardown(test, nodes_setup, nodes_teardown)
	const struct CMUnitTest tests[] = {
		WITH_NODES(all_pairs_write_and_one_returns),
		WITH_NODES(stale_descriptors_are_refused),
		WITH_NODES(keys_of_removed_regions_are_refused),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
