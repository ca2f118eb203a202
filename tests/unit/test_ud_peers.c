/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: which peers have a place in the table. Requests may come from any address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/ud/peers.h"
#include "app/hp3d/ud/ud.h"
#include "roce/wire.h"

#define CHOSEN 64u
#define WAYS   8u
#define PAIRS  1024u
#define SECOND 1000000000ull

static struct hp3d_ud_peers peers;
static const uint8_t us[4] = {10, 0, 1, 1};
static uint64_t now;

static struct hp3d_ud_peer *add(uint32_t host)
{
	uint8_t remote[4];

	hp3_put_be32(remote, 0x0b000000u + host);
	return hp3d_ud_peers_add(&peers, false, us, remote, now);
}

static struct hp3d_ud_peer *find(uint32_t host)
{
	uint8_t remote[4];

	hp3_put_be32(remote, 0x0b000000u + host);
	return hp3d_ud_peers_find(&peers, false, us, remote);
}

static bool meet(uint32_t host)
{
	struct hp3d_ud_peer *peer = add(host);

	if (peer != NULL)
		hp3d_ud_peers_meet(peer, now);
	return peer != NULL;
}

static void end(void)
{
	free(peers.peer);
	free(peers.look);
	memset(&peers, 0, sizeof(peers));
}

static void begin(uint8_t secret, uint32_t pairs)
{
	end();
	now = 1000 * SECOND;
	memset(peers.secret.bytes, secret, sizeof(peers.secret.bytes));
	assert_int_equal(hp3d_ud_peers_make(&peers, pairs), 0);
}

static unsigned placed(const uint32_t host[CHOSEN], uint8_t secret)
{
	unsigned n = 0;

	begin(secret, PAIRS);
	for (unsigned i = 0; i < CHOSEN; i++)
		n += meet(host[i]);
	return n;
}

static void addresses_that_collide_under_one_secret(void **state)
{
	uint32_t host[CHOSEN], n = 0;

	begin(7, PAIRS);
	for (uint32_t i = 0; n < CHOSEN; i++)
		if (add(i) < &peers.peer[WAYS])
			host[n++] = i;
	assert_int_equal(placed(host, 7), WAYS);
	for (uint8_t secret = 8; secret < 58; secret++)
		assert_int_equal(placed(host, secret), CHOSEN);
	end();
}

/* Queue pairs with as many hosts as there may be address pairs. */
static void as_many_as_address_pairs(void **state)
{
	for (uint32_t pairs = 1024; pairs <= 65536; pairs *= 4) {
		uint32_t n = 0;

		begin(7, pairs);
		for (uint32_t i = 0; i < pairs; i++)
			n += meet(i);
		assert_in_range(n, pairs * 98 / 100, pairs);
	}
	end();
}

/* Who asks from invented addresses, and makes hp3d send there, too. */
static void unknown_hosts(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct hp3d_ud_peer *peer = add(0x800000 + i);

		if (peer != NULL)
			peer->wanted = now;
	}
}

static void unknown_hosts_take_no_place_of_who_has_queue_pairs(void **state)
{
	begin(7, PAIRS);
	for (uint32_t i = 0; i < PAIRS / 2; i++)
		assert_true(meet(i));
	for (unsigned second = 0; second < HP3D_UD_MEET_S; second++) {
		now += SECOND;
		unknown_hosts(2000);
	}
	for (uint32_t i = 0; i < PAIRS / 2; i++)
		assert_non_null(find(i));
	end();
}

/* All places are those of unknown hosts, and hp3d has just sent to each: a host with queue pairs
 * gets one. */
static void who_has_queue_pairs_gets_a_place(void **state)
{
	begin(7, PAIRS);
	unknown_hosts(100000);
	for (uint32_t i = 0; i < PAIRS / 2; i++)
		assert_true(meet(i));
	for (uint32_t i = 0; i < PAIRS / 2; i++)
		assert_non_null(find(i));
	end();
}

/* A user who announces queue pairs with invented hosts has no more places than queue pairs. */
static void whose_queue_pairs_have_ended_makes_room(void **state)
{
	begin(7, PAIRS);
	for (uint32_t i = 0; i < 100000; i++) {
		if (meet(0x800000 + i))
			hp3d_ud_peers_part(find(0x800000 + i));
		if (i % 200 == 0)
			assert_true(meet(i / 200));
	}
	for (uint32_t i = 0; i < 100000 / 200; i++)
		assert_non_null(find(i));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_collide_under_one_secret),
		cmocka_unit_test(as_many_as_address_pairs),
		cmocka_unit_test(unknown_hosts_take_no_place_of_who_has_queue_pairs),
		cmocka_unit_test(who_has_queue_pairs_gets_a_place),
		cmocka_unit_test(whose_queue_pairs_have_ended_makes_room),
	};

	return cmocka_run_group_tests_name("ud_peers", tests, NULL, NULL);
}
