/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose queue pairs are known: anybody may ask, from any address; those that are wanted stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/ud/peers.h"
#include "roce/wire.h"

#define CHOSEN 64u
#define WAYS   8u
#define NOW    1000000000u

static struct hp3d_ud_peers peers;
static const uint8_t us[4] = {10, 0, 1, 1};

static struct hp3d_ud_peer *add(uint32_t host)
{
	uint8_t remote[4];

	hp3_put_be32(remote, 0x0b000000u + host);
	return hp3d_ud_peers_add(&peers, false, us, remote, NOW);
}

static void begin(uint8_t secret)
{
	memset(&peers, 0, sizeof(peers));
	memset(peers.secret.bytes, secret, sizeof(peers.secret.bytes));
}

/* Those that get a place where all of them are wanted. */
static unsigned placed(const uint32_t host[CHOSEN], uint8_t secret)
{
	unsigned n = 0;

	begin(secret);
	for (unsigned i = 0; i < CHOSEN; i++) {
		struct hp3d_ud_peer *peer = add(host[i]);

		if (peer != NULL)
			peer->wanted = NOW;
		n += peer != NULL;
	}
	return n;
}

static void addresses_that_collide_under_one_secret(void **state)
{
	uint32_t host[CHOSEN], n = 0;

	begin(7);
	for (uint32_t i = 0; n < CHOSEN; i++)
		if (add(i) < &peers.peer[WAYS])
			host[n++] = i;
	assert_int_equal(placed(host, 7), WAYS);
	for (uint8_t secret = 8; secret < 58; secret++)
		assert_int_equal(placed(host, secret), CHOSEN);
}

/* A full set keeps those that are wanted; who is not wanted any more makes room. */
static void who_is_wanted_keeps_its_place(void **state)
{
	struct hp3d_ud_peer *first = NULL, *newcomer = NULL;
	unsigned n = 0;

	begin(7);
	for (uint32_t i = 0; newcomer == NULL; i++) {
		struct hp3d_ud_peer *peer = add(i);

		if (peer == NULL) {
			first->wanted = 0;
			newcomer = add(i);
			assert_ptr_equal(newcomer, first);
		} else {
			peer->wanted = NOW;
			if (peer < &peers.peer[WAYS] && n++ == 0)
				first = peer;
			/* elsewhere nobody stays */
			if (peer >= &peers.peer[WAYS])
				peer->used = false;
		}
	}
	assert_int_equal(n, WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_collide_under_one_secret),
		cmocka_unit_test(who_is_wanted_keeps_its_place),
	};

	return cmocka_run_group_tests_name("ud_peers", tests, NULL, NULL);
}
