/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for queue pairs, and their answers: which are accepted, which are answered. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "responder_rig.h"

#define DPORT 4795

static struct hp3_addressing from(uint32_t host, bool ipv6)
{
	struct hp3_addressing a = flow_addressing(ipv6, 40000);

	a.src_ip[3] = (uint8_t)host;
	return a;
}

static struct hp3_hello ask(uint64_t nonce)
{
	return (struct hp3_hello){.kind = HP3_HELLO_ASK,
		.qkey = 0x1234567,
		.clock_us = CLOCK * 1000000ull,
		.nonce = nonce};
}

/* The first n bytes of `buf`, from `a` to this port. */
#define DATAGRAM(n, to) (&(struct hp3_hello_datagram){&a, (to), buf, (n)})

static struct hp3_hello tell(uint8_t n)
{
	struct hp3_hello h = ask(7);

	h.kind = HP3_HELLO_ANSWER;
	h.n = n;
	for (uint8_t i = 0; i < n; i++)
		h.qpn[i] = 17u + i;
	return h;
}

static void it_comes_as_it_was_said(void **state)
{
	for (uint8_t n = 0; n <= HP3_HELLO_QPNS; n++) {
		struct hp3_addressing a = from(1, n % 2);
		struct hp3_hello h = n == 0 ? ask(9) : tell(n), got;
		uint8_t buf[HP3_HELLO_LEN];

		hp3_hello_build(buf, &a, DPORT, &h, &probe_key);
		assert_int_equal(
			hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &probe_keys, &got), 0);
		h.hash = got.hash; /* not sent */
		assert_memory_equal(&got, &h, sizeof(h));
	}
}

static void no_bit_can_be_changed(void **state)
{
	struct hp3_addressing a = from(1, false);
	struct hp3_hello h = tell(16), got;
	uint8_t buf[HP3_HELLO_LEN];

	for (unsigned bit = 0; bit < 8 * HP3_HELLO_LEN; bit++) {
		hp3_hello_build(buf, &a, DPORT, &h, &probe_key);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_true(hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &probe_keys, &got) < 0);
	}
	hp3_hello_build(buf, &a, DPORT, &h, &probe_key);
	assert_int_equal(
		hp3_hello_read(DATAGRAM(sizeof(buf) - 1, DPORT), &probe_keys, &got), -EBADMSG);
	assert_int_equal(
		hp3_hello_read(DATAGRAM(sizeof(buf), DPORT + 1), &probe_keys, &got), -EACCES);
	assert_int_equal(hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &no_keys, &got), -EACCES);
	a.src_ip[3]++;
	assert_int_equal(hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &probe_keys, &got), -EACCES);
}

/* Counts and numbers that make no sense, with a right tag. */
static void what_makes_no_sense(void **state)
{
	struct hp3_addressing a = from(1, false);
	struct hp3_hello bad[] = {tell(0), tell(3), tell(3), ask(1), ask(1), tell(1)}, got;
	uint8_t buf[HP3_HELLO_LEN];

	bad[1].qpn[1] = 0;
	bad[2].qpn[0] = 0x1000000;
	bad[3].n = 1;
	bad[3].qpn[0] = 5;
	bad[4].kind = 3;
	bad[5].kind = 0;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		hp3_hello_build(buf, &a, DPORT, &bad[i], &probe_key);
		assert_int_equal(
			hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &probe_keys, &got), -EBADMSG);
	}
}

static bool asked(uint32_t host, uint64_t nonce, uint64_t clock, bool known)
{
	struct hp3_addressing a = from(host, false);
	struct hp3_hello h = ask(nonce), got;
	uint8_t buf[HP3_HELLO_LEN];

	h.clock_us = clock * 1000000;
	hp3_hello_build(buf, &a, DPORT, &h, &cfg.keys.key[0]);
	assert_int_equal(hp3_hello_read(DATAGRAM(sizeof(buf), DPORT), &cfg.keys, &got), 0);
	return hp3_responder_hello(r, &a, &got, known, AT_NOW);
}

static void once_and_in_time(void **state)
{
	assert_true(asked(1, 1, CLOCK, false));
	assert_false(asked(1, 1, CLOCK, false)); /* again */
	assert_true(asked(1, 2, CLOCK, false));
	assert_false(asked(1, 3, CLOCK - cfg.clock_s - 1, false));
	assert_false(asked(1, 4, CLOCK + cfg.clock_s + 1, false));
	assert_int_equal(st.hellos, 5);
	assert_int_equal(st.hellos_answered, 2);
	assert_int_equal(st.hellos_replayed, 1);
	assert_int_equal(st.hellos_bad_clock, 2);
}

static void a_flood_of_questions(void **state)
{
	uint32_t told = 0, others = 0;

	for (uint32_t i = 0; i < 100000; i++)
		told += asked(1, i + 1, CLOCK, false);
	assert_in_range(told, 1, cfg.source.burst + 1);
	for (uint32_t host = 2; host < 10; host++)
		others += asked(host, host, CLOCK, false);
	assert_int_equal(others, 8);
	assert_true(st.hellos_flood != 0);
}

/* Without a key: who is not talked to shares little, who is has his own. */
static void unauthenticated_take_nothing_from_who_is_known(void **state)
{
	uint32_t told = 0;

	cfg.keys = no_keys;
	responder_anew();
	for (uint32_t i = 0; i < 20000; i++)
		told += asked(2 + i % 200, i + 1, CLOCK, false);
	assert_in_range(told, 1, cfg.unknown.burst);
	assert_true(asked(1, 77777, CLOCK, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESPONDER_TEST(it_comes_as_it_was_said),
		RESPONDER_TEST(no_bit_can_be_changed),
		RESPONDER_TEST(what_makes_no_sense),
		RESPONDER_TEST(once_and_in_time),
		RESPONDER_TEST(a_flood_of_questions),
		RESPONDER_TEST(unauthenticated_take_nothing_from_who_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
