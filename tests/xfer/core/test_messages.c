/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the core of libhp3x whose length or fields are out of range: each is -EPROTO, and the
 * peer can then be lost and freed.
 */
#include "tests/xfer/core/pair.h"
#include "xfer/core/wire.h"

#define OPENER   0u
#define ACCEPTOR 1u

/* A message: `n` bytes, and then `zeros` bytes 0. */
struct wrong {
	const char *what;
	uint32_t core, n;
	uint8_t bytes[24];
	uint32_t zeros;
};

#define SLOT(slot, rest) NUMBER((slot) << 1 | (rest)) /* rest: generation and flags */
#define NUMBER(n)        (uint8_t)(n), (uint8_t)((n) >> 8)
#define LONG(n)          NUMBER((n)&0xffff), NUMBER((n) >> 16)
#define BEGIN(slot, generation, counter, slices, add)                                              \
	{                                                                                          \
		HP3XC_BEGIN, SLOT(slot, generation), NUMBER(counter), NUMBER(slices), LONG(add)    \
	}

/* Both paths are up, in their first opening; there are two of them. */
static const struct wrong wrongs[] = {
	{"no bytes", OPENER, 0, {0}, 0},
	{"kind 0", OPENER, 1, {0}, 0},
	{"kind behind the last one", OPENER, 1, {HP3XC_KEEPALIVE + 1}, 0},
	{"offer without a path", ACCEPTOR, 1, {HP3XC_OFFER}, 0},
	{"offer without an endpoint", ACCEPTOR, 6, {HP3XC_OFFER, 0, LONG(2)}, 0},
	{"offer with a long endpoint", ACCEPTOR, 6, {HP3XC_OFFER, 0, LONG(2)}, HP3X_ENDPOINT + 1},
	{"offer of no path", ACCEPTOR, 6, {HP3XC_OFFER, 2, LONG(2)}, 3},
	{"offer of a path that is up", ACCEPTOR, 6, {HP3XC_OFFER, 0, LONG(2)}, 3},
	{"offer to the opener", OPENER, 6, {HP3XC_OFFER, 0, LONG(2)}, 3},
	{"answer without an endpoint", OPENER, 6, {HP3XC_ANSWER, 0, LONG(1)}, 0},
	{"answer with a long endpoint", OPENER, 6, {HP3XC_ANSWER, 0, LONG(1)}, HP3X_ENDPOINT + 1},
	{"answer of no path", OPENER, 6, {HP3XC_ANSWER, 255, LONG(1)}, 3},
	{"answer to the acceptor", ACCEPTOR, 6, {HP3XC_ANSWER, 0, LONG(1)}, 3},
	{"short ready", ACCEPTOR, 5, {HP3XC_READY, 0, 1}, 0},
	{"long ready", ACCEPTOR, 6, {HP3XC_READY, 0, LONG(1)}, 1},
	{"ready of no path", ACCEPTOR, 6, {HP3XC_READY, 2, LONG(1)}, 0},
	{"short path down", OPENER, 2, {HP3XC_PATH_DOWN, 0}, 0},
	{"path down of no path", OPENER, 6, {HP3XC_PATH_DOWN, 2, LONG(1)}, 0},
	{"short fenced", OPENER, 6, {HP3XC_FENCED, 0, LONG(1)}, 3},
	{"long fenced", OPENER, 10, {HP3XC_FENCED, 0, LONG(1), LONG(0)}, 1},
	{"fenced of no path", OPENER, 10, {HP3XC_FENCED, 2, LONG(1), LONG(0)}, 0},
	{"fenced with immediates that were never sent", OPENER, 10,
		{HP3XC_FENCED, 0, LONG(1), LONG(1000)}, 0},
	{"short begin", OPENER, 10, BEGIN(70, 1, 1, 2, 1), 0},
	{"long begin", OPENER, 11, BEGIN(70, 1, 1, 2, 1), 1},
	{"begin of no slot", OPENER, 11, BEGIN(HP3X_SLOTS, 1, 1, 2, 1), 0},
	{"begin of no counter", OPENER, 11, BEGIN(70, 1, HP3X_COUNTERS, 2, 1), 0},
	{"begin of no slices", OPENER, 11, BEGIN(70, 1, 1, 0, 1), 0},
	{"begin of too many slices", OPENER, 11, BEGIN(3, 1, 1, HP3X_MOST_PAGES + 1, 1), 0},
	{"begin of too many slices, small slot", OPENER, 11, BEGIN(64, 1, 1, 65, 1), 0},
	{"begin that adds 0", OPENER, 11, BEGIN(70, 1, 1, 2, 0), 0},
	{"begin of the last generation", OPENER, 11, BEGIN(70, 0, 1, 2, 1), 0},
	{"half an entry counted", OPENER, 2, {HP3XC_COUNTED_MESSAGE, 0}, 0},
	{"a free slot counted", OPENER, 3, {HP3XC_COUNTED_MESSAGE, SLOT(70, 0x4000)}, 0},
	{"a free slot forgotten", OPENER, 3, {HP3XC_COUNTED_MESSAGE, SLOT(70, 0x8000)}, 0},
	{"half an entry to forget", OPENER, 2, {HP3XC_FORGET, 0}, 0},
	{"forget of no slot", OPENER, 3, {HP3XC_FORGET, SLOT(HP3X_SLOTS, 1)}, 0},
	{"part of a flush entry", OPENER, 9, {HP3XC_FLUSH, 0, LONG(1), NUMBER(0), 0}, 0},
	{"flush of no path", OPENER, 10, {HP3XC_FLUSH, 2, LONG(1), LONG(0)}, 0},
	{"flush of a later opening", OPENER, 10, {HP3XC_FLUSH, 0, LONG(2), LONG(1)}, 0},
	{"flushed with data", OPENER, 2, {HP3XC_FLUSHED, 0}, 0},
	{"flushed that nobody asked for", OPENER, 1, {HP3XC_FLUSHED}, 0},
	{"short add", OPENER, 6, {HP3XC_ADD, NUMBER(1), NUMBER(1), 0}, 0},
	{"long add", OPENER, 7, {HP3XC_ADD, NUMBER(1), LONG(1)}, 1},
	{"add to no counter", OPENER, 7, {HP3XC_ADD, NUMBER(HP3X_COUNTERS), LONG(1)}, 0},
	{"long message of hp3x_send()", OPENER, 1, {HP3XC_USER}, HP3X_MOST_SEND + 1},
	{"short acknowledgement", OPENER, 4, {HP3XC_ACKNOWLEDGE, NUMBER(0), 0}, 0},
	{"long acknowledgement", OPENER, 5, {HP3XC_ACKNOWLEDGE, LONG(0)}, 1},
	{"acknowledgement of what was never sent", OPENER, 5, {HP3XC_ACKNOWLEDGE, LONG(1)}, 0},
	{"keep-alive with data", OPENER, 2, {HP3XC_KEEPALIVE, 0}, 0},
};

static int message_pass(struct pair *p, uint32_t core, const void *bytes, size_t n)
{
	int error = hp3x_core_message(p->core[core], p->now, (uint32_t)p->peer[core], bytes, n);

	pair_drain(p);
	return error;
}

static void wrong_check(const struct wrong *w)
{
	static uint8_t bytes[HP3X_MESSAGE + 32];
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	int error;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, w->bytes, w->n);
	pair_run(p, p->now + MS);
	assert_true(pair_write(p, 4 << 20, 1, 1) > 0);
	error = hp3x_core_message(
		p->core[w->core], p->now, (uint32_t)p->peer[w->core], bytes, w->n + w->zeros);
	if (error != -EPROTO)
		fail_msg("%s: %d", w->what, error);
	for (uint32_t i = 0; i < 2; i++)
		hp3x_core_peer_lost(p->core[i], p->now, (uint32_t)p->peer[i]);
	pair_run(p, p->now + SECOND);
	assert_int_equal(p->n_ended, 1);
	assert_int_equal(p->ended[0].status, HP3X_PEER_LOST);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(hp3x_core_peer_free(p->core[i], (uint32_t)p->peer[i]));
	pair_free(p);
}

static void malformed_messages_are_errors(void **state)
{
	for (uint32_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		wrong_check(&wrongs[i]);
}

/* Messages that are right alone, but not after others. */
static void messages_out_of_order_are_errors(void **state)
{
	static const uint8_t begin[] = BEGIN(70, 1, 1, 2, 1);
	static const uint8_t other_forget[] = {HP3XC_FORGET, SLOT(70, 0)};
	static const uint8_t flush[] = {HP3XC_FLUSH, 0, LONG(1), LONG(7)};
	static const uint8_t twice[] = {HP3XC_FLUSH, 0, LONG(1), LONG(7), 0, LONG(1), LONG(7)};
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);

	pair_run(p, p->now + MS);
	assert_int_equal(message_pass(p, OPENER, begin, sizeof(begin)), 0);
	assert_int_equal(message_pass(p, OPENER, begin, sizeof(begin)), -EPROTO);
	assert_int_equal(message_pass(p, OPENER, other_forget, sizeof(other_forget)), -EPROTO);
	assert_int_equal(message_pass(p, OPENER, flush, sizeof(flush)), 0);
	assert_int_equal(message_pass(p, OPENER, flush, sizeof(flush)), -EPROTO);
	assert_int_equal(message_pass(p, ACCEPTOR, twice, sizeof(twice)), -EPROTO);
	pair_free(p);
}

/* FORGOTTEN before FORGET was sent: the slot would be in two lists. */
static void an_early_forgotten_is_an_error(void **state)
{
	static const uint8_t flushed[] = {HP3XC_FLUSHED};
	static const uint8_t forgotten[] = {HP3XC_COUNTED_MESSAGE, SLOT(64, 0x8001)};
	struct hp3x_core_config c = pair_config();
	struct pair *p = pair_create(&c);
	int64_t op;

	pair_run(p, p->now + MS);
	p->stalled = true; /* the other core hears nothing */
	op = pair_write(p, 1000, 1, 1);
	pair_drain(p);
	assert_int_equal(hp3x_core_cancel(p->core[0], p->now, op), 0);
	pair_run(p, p->now + MS);
	assert_int_equal(p->n_ended, 1);
	hp3x_core_writable(p->core[0], (uint32_t)p->peer[0], false);
	assert_int_equal(message_pass(p, OPENER, flushed, sizeof(flushed)), 0);
	assert_int_equal(message_pass(p, OPENER, forgotten, sizeof(forgotten)), -EPROTO);
	hp3x_core_writable(p->core[0], (uint32_t)p->peer[0], true);
	pair_drain(p); /* FORGET */
	assert_int_equal(message_pass(p, OPENER, forgotten, sizeof(forgotten)), 0);
	pair_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_messages_are_errors),
		cmocka_unit_test(messages_out_of_order_are_errors),
		cmocka_unit_test(an_early_forgotten_is_an_error),
	};

	if (getenv("HP3_TEST") != NULL)
		cmocka_set_test_filter(getenv("HP3_TEST"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
