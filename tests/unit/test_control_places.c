/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of the control socket: which client gets one, which client loses its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "app/control/clients.h"

#define MAX 64u

static struct hp3d_client c[MAX];
static unsigned n;

static struct hp3d_client client(uid_t uid, uint64_t asked_ms)
{
	return (struct hp3d_client){.uid = uid, .guest = uid != 0, .asked_ms = asked_ms};
}

static int comes(uid_t uid, uint64_t now_ms)
{
	struct hp3d_client one = client(uid, now_ms);

	return hp3d_places_for(c, n, MAX, &one, now_ms);
}

static void fill(unsigned count, uid_t uid, uint64_t asked_ms)
{
	while (count-- > 0)
		c[n++] = client(uid, asked_ms++);
}

static int nobody(void **state)
{
	n = 0;
	return 0;
}

/* As it ships, all are root's: those that ask stay, and the next one waits. */
static void the_owner_waits_for_those_that_ask(void **state)
{
	fill(MAX, 0, 1000);
	assert_false(hp3d_places_open(c, n, MAX, 1100));
	assert_int_equal(comes(0, 1100), -EBUSY);
	c[0].asked_ms = 5000;
	c[9].asked_ms = 999;
	assert_false(hp3d_places_open(c, n, MAX, 999 + HP3D_PLACES_IDLE_MS - 1));
	assert_true(hp3d_places_open(c, n, MAX, 999 + HP3D_PLACES_IDLE_MS));
	assert_int_equal(comes(0, 999 + HP3D_PLACES_IDLE_MS), 9);
	assert_int_equal(comes(7, 999 + HP3D_PLACES_IDLE_MS), -EBUSY);
	n--;
	assert_true(hp3d_places_open(c, n, MAX, 1100));
	assert_int_equal(comes(0, 1100), n);
	assert_int_equal(comes(7, 1100), -EBUSY); /* the owner's reserve */
}

static void a_guest_has_so_many(void **state)
{
	fill(2, 8, 1);
	fill(HP3D_PLACES_EACH - 1, 7, 10);
	assert_int_equal(comes(7, 100), n);
	fill(1, 7, 9);
	assert_int_equal(comes(7, 100), n - 1); /* his oldest */
	assert_int_equal(comes(8, 100), n);
	assert_int_equal(comes(0, 100), n);
}

static void many_guests_leave_room(void **state)
{
	for (unsigned uid = 1; n < MAX - HP3D_PLACES_OWN; uid++)
		fill(uid == 3 ? 9 : 7, uid, 100 - uid);
	n = MAX - HP3D_PLACES_OWN;
	assert_int_equal(comes(0, 200), n);
	assert_int_equal(
		comes(99, 200), 14); /* the oldest of who has most, not the oldest of all */
	fill(HP3D_PLACES_OWN, 0, 1);
	assert_true(hp3d_places_open(c, n, MAX, 200));
	assert_int_equal(comes(0, 200), 14);
	assert_int_equal(comes(99, 1000000), 14);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_owner_waits_for_those_that_ask, nobody),
		cmocka_unit_test_setup(a_guest_has_so_many, nobody),
		cmocka_unit_test_setup(many_guests_leave_room, nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
