/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine of a move: every state with every input, and the classification of replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "rfr/rfr.h"
#include "roce/opcode.h"

/* All that ever happens, in words. Every other pair of state and input changes nothing. */
static const struct {
	const char *state, *input, *next, *action;
} happens[] = {
	{"steady", "move", "closing", "none"},
	{"steady", "move-idle", "steady", "switch"},
	{"steady", "move-closed", "draining", "behind"},
	{"steady", "search", "searching", "none"},
	{"searching", "move", "closing", "none"},
	{"steady", "message-start", "probing", "none"},
	{"searching", "move-idle", "steady", "switch"},
	{"searching", "move-closed", "draining", "behind"},
	{"searching", "no-better", "steady", "recover"},
	{"searching", "tx-epoch", "steady", "discard"},
	{"searching", "rnr", "steady", "recover"},
	{"searching", "fatal-nak", "steady", "recover"},
	{"searching", "contradiction", "steady", "recover"},
	{"searching", "cancel", "steady", "recover"},
	{"closing", "tx-new", "draining", "close"},
	{"closing", "tx-retransmit", "steady", "recover"},
	{"closing", "tx-epoch", "steady", "discard"},
	{"closing", "drained", "steady", "switch"},
	{"closing", "nak", "steady", "recover"},
	{"closing", "rnr", "steady", "recover"},
	{"closing", "fatal-nak", "steady", "recover"},
	{"closing", "contradiction", "steady", "recover"},
	{"closing", "timeout", "steady", "recover"},
	{"closing", "cancel", "steady", "recover"},
	{"draining", "tx-new", "draining", "hold"},
	{"draining", "tx-retransmit", "steady", "recover"},
	{"draining", "tx-epoch", "steady", "discard"},
	{"draining", "drained", "steady", "switch"},
	{"draining", "nak", "steady", "recover"},
	{"draining", "rnr", "steady", "recover"},
	{"draining", "fatal-nak", "steady", "recover"},
	{"draining", "contradiction", "steady", "recover"},
	{"draining", "hold-full", "steady", "recover"},
	{"draining", "timeout", "steady", "recover"},
	{"draining", "cancel", "steady", "recover"},
	{"draining", "ask", "probing", "probe"},
	{"draining", "tx-again", "steady", "supersede"},
	{"probing", "tx-new", "probing", "hold"},
	{"probing", "won", "steady", "switch"},
	{"probing", "no-better", "steady", "recover"},
	{"probing", "tx-retransmit", "steady", "recover"},
	{"probing", "tx-epoch", "steady", "discard"},
	{"probing", "nak", "steady", "recover"},
	{"probing", "rnr", "steady", "recover"},
	{"probing", "fatal-nak", "steady", "recover"},
	{"probing", "contradiction", "steady", "recover"},
	{"probing", "hold-full", "steady", "recover"},
	{"probing", "timeout", "steady", "recover"},
	{"probing", "cancel", "steady", "recover"},
	{"steady", "dead", "resuming", "failover"},
	{"searching", "dead", "resuming", "failover"},
	{"resuming", "tx-wanted", "resuming", "none"},
	{"resuming", "tx-ahead", "resuming", "hold"},
	{"resuming", "tx-again", "steady", "supersede"},
	{"resuming", "caught-up", "steady", "resume"},
	{"resuming", "tx-epoch", "steady", "discard"},
	{"resuming", "contradiction", "steady", "resume"},
	{"resuming", "hold-full", "steady", "resume"},
	{"resuming", "timeout", "steady", "resume"},
	{"resuming", "cancel", "steady", "resume"},
};

static const char *const actions[HP3_RFR_DO_MAX] = {
#define X(sym, text) [HP3_RFR_DO_##sym] = text,
	HP3_RFR_ACTIONS(X)
#undef X
};

static void every_state_with_every_input(void **state)
{
	size_t seen = 0;

	for (unsigned s = 0; s < HP3_RFR_STATE_MAX; s++) {
		for (unsigned i = 0; i < HP3_RFR_IN_MAX; i++) {
			struct hp3_rfr_step step = hp3_rfr_step(s, i);
			const char *next = hp3_rfr_state_name(s), *action = "none";

			for (size_t k = 0; k < sizeof(happens) / sizeof(happens[0]); k++) {
				if (strcmp(happens[k].state, hp3_rfr_state_name(s)) != 0 ||
					strcmp(happens[k].input, hp3_rfr_input_name(i)) != 0)
					continue;
				next = happens[k].next;
				action = happens[k].action;
				seen++;
			}
			assert_string_equal(hp3_rfr_state_name(step.next), next);
			assert_string_equal(actions[step.action], action);
		}
	}
	assert_int_equal(seen, sizeof(happens) / sizeof(happens[0]));
}

static bool is_holding(unsigned s)
{
	return s == HP3_RFR_DRAINING || s == HP3_RFR_PROBING || s == HP3_RFR_RESUMING;
}

/* The promise, read off the table: the port changes only behind a proof. */
static void only_proof_switches(void **state)
{
	for (unsigned s = 0; s < HP3_RFR_STATE_MAX; s++) {
		for (unsigned i = 0; i < HP3_RFR_IN_MAX; i++) {
			struct hp3_rfr_step step = hp3_rfr_step(s, i);

			if (step.action == HP3_RFR_DO_SWITCH)
				assert_true(i == HP3_RFR_IN_DRAINED || i == HP3_RFR_IN_MOVE_IDLE ||
					    (s == HP3_RFR_PROBING && i == HP3_RFR_IN_WON));
			if (step.next == HP3_RFR_PROBING && s != HP3_RFR_PROBING)
				assert_true((s == HP3_RFR_DRAINING && i == HP3_RFR_IN_ASK) ||
					    (s == HP3_RFR_STEADY && i == HP3_RFR_IN_MESSAGE_START));
			if (step.action == HP3_RFR_DO_FAILOVER)
				assert_int_equal(i, HP3_RFR_IN_DEAD);
			if (step.action == HP3_RFR_DO_HOLD)
				assert_true(is_holding(s));
			/* Nobody stops holding without saying what becomes of the held packets. */
			if (is_holding(s) && !is_holding(step.next))
				assert_true(step.action == HP3_RFR_DO_SWITCH ||
					    step.action == HP3_RFR_DO_RECOVER ||
					    step.action == HP3_RFR_DO_DISCARD ||
					    step.action == HP3_RFR_DO_SUPERSEDE ||
					    step.action == HP3_RFR_DO_RESUME);
		}
	}
}

static void names(void **state)
{
	assert_string_equal(hp3_rfr_state_name(HP3_RFR_STATE_MAX), "?");
	assert_string_equal(hp3_rfr_input_name(HP3_RFR_IN_MAX), "?");
}

/* --- replies: PSN 100 to 109 were emitted, 104 closes, 105 to 109 are held ------------------ */

static struct hp3_stream s;
static const struct hp3_closing closing = {.psn = 104, .end = 105};

static struct hp3_view packet(uint8_t opcode, uint32_t psn)
{
	return (struct hp3_view){.class = hp3_opcodes[opcode].class,
		.opcode = opcode,
		.flags = hp3_opcodes[opcode].flags,
		.psn = psn};
}

static void emit(uint32_t n)
{
	uint8_t pmtu = 10;

	hp3_stream_reset(&s, 100);
	for (uint32_t i = 0; i < n; i++) {
		struct hp3_view v = packet(HP3_OP_RC_WRITE_MIDDLE, 100 + i);

		assert_int_equal(hp3_stream_tx(&s, &v, &pmtu), HP3_TX_NEW);
	}
}

static enum hp3_rfr_input reply(enum hp3_rfr_state state, uint8_t syndrome, uint32_t psn)
{
	struct hp3_view v = packet(HP3_OP_RC_ACK, psn);

	v.syndrome = syndrome;
	return hp3_rfr_reply(state, &s, &closing, &v);
}

static void drained_is_a_reply_at_the_closing_packet(void **state)
{
	emit(10);
	assert_int_equal(reply(HP3_RFR_DRAINING, HP3_SYN_ACK, 99), HP3_RFR_IN_NONE);
	assert_int_equal(reply(HP3_RFR_DRAINING, HP3_SYN_ACK, 103), HP3_RFR_IN_NONE);
	assert_int_equal(s.una, 104);
	assert_int_equal(reply(HP3_RFR_DRAINING, HP3_SYN_ACK, 104), HP3_RFR_IN_DRAINED);
	assert_int_equal(s.una, 105);
}

/* Nothing behind the closing packet has left: a reply to it belongs to somebody else. */
static void reply_to_what_is_held_contradicts(void **state)
{
	static const uint8_t syndromes[] = {
		HP3_SYN_ACK | 31, HP3_SYN_RNR | 1, HP3_SYN_NAK, HP3_SYN_NAK | 2};

	for (uint32_t i = 0; i < sizeof(syndromes); i++) {
		for (uint32_t psn = 105; psn < 112; psn++) {
			emit(10);
			assert_int_equal(reply(HP3_RFR_DRAINING, syndromes[i], psn),
				HP3_RFR_IN_CONTRADICTION);
			assert_int_equal(s.una, 100);
		}
	}
	emit(10);
	assert_int_equal(reply(HP3_RFR_CLOSING, HP3_SYN_ACK, 110), HP3_RFR_IN_CONTRADICTION);
	assert_int_equal(reply(HP3_RFR_CLOSING, HP3_SYN_ACK, 109), HP3_RFR_IN_DRAINED);
}

/* Rule 9: a closing READ is drained by its first response, and answered up to its upper bound. */
static void closing_read(void **state)
{
	struct hp3_closing c = {.psn = 110, .end = 118};
	struct hp3_view v = packet(HP3_OP_RC_READ_REQUEST, 110);
	uint8_t pmtu = 10;

	for (uint32_t psn = 110; psn <= 118; psn++) {
		emit(10);
		v = packet(HP3_OP_RC_READ_REQUEST, 110);
		v.dma_len = 8 << 10;
		assert_int_equal(hp3_stream_tx(&s, &v, &pmtu), HP3_TX_NEW);
		v = packet(HP3_OP_RC_WRITE_ONLY, 118);
		assert_int_equal(hp3_stream_tx(&s, &v, &pmtu), HP3_TX_NEW); /* held */
		v = packet(HP3_OP_RC_READ_RESP_MIDDLE, psn);
		assert_int_equal(hp3_rfr_reply(HP3_RFR_DRAINING, &s, &c, &v),
			psn < 118 ? HP3_RFR_IN_DRAINED : HP3_RFR_IN_CONTRADICTION);
	}
}

static void refusals(void **state)
{
	static const struct {
		uint8_t syndrome;
		enum hp3_rfr_input input;
	} cases[] = {
		{HP3_SYN_RNR | 0, HP3_RFR_IN_RNR}, {HP3_SYN_RNR | 31, HP3_RFR_IN_RNR},
		{HP3_SYN_NAK | 0, HP3_RFR_IN_NAK},
		{HP3_SYN_NAK | 1, HP3_RFR_IN_FATAL}, /* invalid request */
		{HP3_SYN_NAK | 2, HP3_RFR_IN_FATAL}, /* remote access */
		{HP3_SYN_NAK | 3, HP3_RFR_IN_FATAL}, /* remote operational */
		{HP3_SYN_NAK | 4, HP3_RFR_IN_FATAL}, /* invalid RD request */
		{0x40, HP3_RFR_IN_NONE}, /* reserved */
	};

	for (unsigned state_ = HP3_RFR_CLOSING; state_ <= HP3_RFR_DRAINING; state_++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			emit(10);
			assert_int_equal(reply(state_, cases[i].syndrome, 102), cases[i].input);
			assert_int_equal(s.una, 102);
			/* The same again: refuses what it refused before. */
			assert_int_equal(reply(state_, cases[i].syndrome, 102), cases[i].input);
		}
	}
}

/* CLOSING has no closing packet yet: only "everything arrived" ends it. */
static void closing_drains_when_idle(void **state)
{
	emit(10);
	assert_int_equal(reply(HP3_RFR_CLOSING, HP3_SYN_ACK, 108), HP3_RFR_IN_NONE);
	assert_int_equal(reply(HP3_RFR_CLOSING, HP3_SYN_ACK, 109), HP3_RFR_IN_DRAINED);
	assert_int_equal(reply(HP3_RFR_CLOSING, HP3_SYN_ACK, 109), HP3_RFR_IN_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_state_with_every_input),
		cmocka_unit_test(only_proof_switches),
		cmocka_unit_test(names),
		cmocka_unit_test(drained_is_a_reply_at_the_closing_packet),
		cmocka_unit_test(reply_to_what_is_held_contradicts),
		cmocka_unit_test(closing_read),
		cmocka_unit_test(refusals),
		cmocka_unit_test(closing_drains_when_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
