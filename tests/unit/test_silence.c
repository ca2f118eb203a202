/* SPDX-License-Identifier: BSD-3-Clause */
/* When a port counts as silent, and when no longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "app/hp3d/control/silence.h"

#define LOOK 250000000ull /* of hp3d */
#define SEC  1000000000ull

static struct hp3d_silence s;
static uint64_t now, arrived, requests;

static void begin(uint64_t arrived_before)
{
	s = (struct hp3d_silence){0};
	now = SEC;
	arrived = arrived_before;
	requests = 0;
	assert_false(hp3d_silence_note(&s, arrived, requests, now));
}

/* Looks for as long as that; each look finds `more` new requests. Returns when it changed; 0: it
 * did not. */
static uint64_t look(uint64_t ns, uint64_t more)
{
	uint64_t changed = 0, end = now + ns;

	while (now < end) {
		now += LOOK;
		requests += more;
		if (hp3d_silence_note(&s, arrived, requests, now))
			changed = now;
	}
	return changed;
}

static void a_port_that_was_never_heard(void **state)
{
	uint64_t first;

	begin(0);
	assert_int_equal(look(20 * SEC, 0), 0); /* nobody sends */
	first = now + LOOK;
	assert_int_equal(look(LOOK, 16), 0);
	assert_int_equal(look(5 * SEC, 0), first + 3 * SEC);
	assert_true(s.silent);
	assert_int_equal(s.times, 1);
	assert_int_equal(look(1000 * SEC, 0), 0); /* for as long as nothing arrives */
	arrived++;
	assert_true(look(LOOK, 1) != 0);
	assert_false(s.silent);
}

static void few_requests_are_no_evidence(void **state)
{
	begin(0);
	assert_int_equal(look(LOOK, 15), 0);
	assert_int_equal(look(1000 * SEC, 0), 0);
	assert_true(look(LOOK, 1) != 0);
	assert_true(s.silent);
}

static void a_port_that_was_heard(void **state)
{
	uint64_t first;

	begin(5);
	first = now + LOOK;
	assert_int_equal(look(9 * SEC, 100), 0);
	assert_int_equal(look(2 * SEC, 100), first + 10 * SEC);
	assert_int_equal(s.times, 1);
	assert_int_equal(look(59 * SEC, 0), 0);
	assert_int_equal(look(2 * SEC, 0), first + 10 * SEC + 3 * LOOK + 60 * SEC);
	assert_false(s.silent);
	/* It counts anew. */
	first = now + LOOK;
	assert_int_equal(look(9 * SEC, 100), 0);
	assert_int_equal(look(2 * SEC, 100), first + 10 * SEC);
	assert_int_equal(s.times, 2);
}

/* An RNIC that gives up after two seconds says nothing of the port. */
static void retransmissions_that_end(void **state)
{
	begin(5);
	look(2 * SEC, 100);
	assert_int_equal(look(1000 * SEC, 0), 0);
	look(2 * SEC, 100);
	assert_int_equal(s.times, 0);
}

static void any_packet_begins_anew(void **state)
{
	begin(5);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(look(9 * SEC, 100), 0);
		arrived++;
		assert_int_equal(look(LOOK, 100), 0);
	}
	assert_int_equal(s.times, 0);
}

static void packets_that_hp3d_does_not_see(void **state)
{
	begin(0);
	assert_true(look(5 * SEC, 100) != 0);
	assert_true(hp3d_silence_forget(&s, arrived, requests));
	assert_false(s.silent);
	assert_int_equal(s.times, 1);
	assert_false(hp3d_silence_forget(&s, arrived, requests));
	assert_int_equal(look(2 * SEC, 100), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_was_never_heard),
		cmocka_unit_test(few_requests_are_no_evidence),
		cmocka_unit_test(a_port_that_was_heard),
		cmocka_unit_test(retransmissions_that_end),
		cmocka_unit_test(any_packet_begins_anew),
		cmocka_unit_test(packets_that_hp3d_does_not_see),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
