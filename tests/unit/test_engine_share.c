/* SPDX-License-Identifier: BSD-3-Clause */
/* Long flows: which ones are counted, what hosts advertise about them, and the effects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/state.h"
#include "scene.h"

#define LONG      200000u
#define PACKETS   ((LONG + PMTU - 1) / PMTU)
#define ADVERTISE (50 * US)
#define LINE      10000u /* Mb/s */

static uint64_t stamp;

static void begin(enum hp3_cc_mode mode)
{
	probing_config();
	rig.cfg.monitor.congestion_tolerance = 7; /* no searches here */
	rig.cfg.moves_allowed = true;
	rig.cfg.cc.mode = mode;
	rig.cfg.cc.rp = hp3_dcqcn_preset("paper")->rp;
	rig.cfg.cc.rp.rpg_max_rate = LINE;
	rig.cfg.cc.rp.rpg_time_reset = 100000; /* us: the rate stays where CNPs have put it */
	rig.cfg.cc.burst_bytes = 1 << 20;
	rig.cfg.cc.share = (struct hp3_share_params){.on = true,
		.floor = 80,
		.cycles = 2,
		.rtt = 150,
		.long_bytes = 100000,
		.advertise_ns = ADVERTISE};
	probing_engine();
	hp3_peer_seen(rig.e, HP3_ENDS(&q), rig.now);
	stamp = 1;
}

static void first_of(uint32_t bytes)
{
	static const uint8_t payload[PMTU];

	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_FIRST,
			    .psn = psn++,
			    .dma_len = bytes,
			    .payload = payload,
			    .payload_len = PMTU});
}

static uint32_t advertised_out(void)
{
	return hp3_longs_to(rig.e, flow_of(&q)).out;
}

static uint32_t advertised_in(void)
{
	return hp3_longs_to(rig.e, flow_of(&q)).in;
}

/* The peer reports that so many of its long flows come here, and how many reach it in all. */
static void report(uint16_t own, uint16_t in)
{
	const struct hp3_long_counts count = {.out = own, .in = in};

	assert_int_equal(hp3_longs_from(rig.e, HP3_ENDS(&q), stamp++, &count, rig.now), 0);
}

static void asks(void)
{
	static const uint8_t payload[PMTU];

	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_MIDDLE,
			    .psn = psn++,
			    .ackreq = true,
			    .payload = payload,
			    .payload_len = PMTU});
}

/* A packet that asks, answered after `rtt`. */
static void round_trip(uint64_t rtt)
{
	asks();
	pass_time(rtt);
	ack(&q, psn - 1);
}

static uint64_t rate_mbps(void)
{
	return info(&q).rate / 1000000;
}

static void messages_count_by_their_length(void **state)
{
	begin(HP3_CC_NATIVE);
	first_of(99999);
	assert_int_equal(advertised_out(), 0);
	first_of(LONG);
	assert_int_equal(advertised_out(), 1);
	first_of(LONG); /* two of one queue pair are one flow */
	assert_int_equal(advertised_out(), 1);
	ack(&q, psn - 1);
	assert_int_equal(advertised_out(), 1); /* there is more to come */
}

static void a_long_message_ends_when_it_is_acknowledged(void **state)
{
	uint32_t from;

	begin(HP3_CC_NATIVE);
	from = psn;
	first_of(LONG);
	for (uint32_t i = 2; i < PACKETS; i++)
		middle(&q, psn++);
	last(&q, psn++);
	assert_int_equal(psn - from, PACKETS);
	ack(&q, psn - 2);
	assert_int_equal(advertised_out(), 1);
	ack(&q, psn - 1);
	assert_int_equal(advertised_out(), 0);
}

static void a_send_is_long_once_it_was(void **state)
{
	static const uint8_t payload[PMTU];
	struct hp3_fields f = {
		.opcode = HP3_OP_RC_SEND_FIRST, .payload = payload, .payload_len = PMTU};

	begin(HP3_CC_NATIVE);
	for (uint32_t i = 0; i < 100000 / PMTU; i++) {
		f.psn = psn++;
		request(&q, &f);
		f.opcode = HP3_OP_RC_SEND_MIDDLE;
		assert_int_equal(advertised_out(), 0);
	}
	f.psn = psn++;
	request(&q, &f);
	assert_int_equal(advertised_out(), 1);
	f.opcode = HP3_OP_RC_SEND_LAST;
	f.ackreq = true;
	f.psn = psn++;
	request(&q, &f);
	ack(&q, psn - 1);
	assert_int_equal(advertised_out(), 0);
}

/* What a READ brings comes in here, and nobody else would count it. */
static void long_reads_come_in(void **state)
{
	begin(HP3_CC_NATIVE);
	first_of(2 * PMTU); /* what READs take is known once the PMTU is */
	round_trip(RTT);
	read_request(&q, psn, LONG);
	assert_int_equal(advertised_out(), 0);
	assert_int_equal(advertised_in(), 1);
	read_response(&q, HP3_OP_RC_READ_RESP_FIRST, psn, PMTU);
	assert_int_equal(advertised_in(), 1);
	read_response(&q, HP3_OP_RC_READ_RESP_LAST, psn + PACKETS - 1, 8);
	assert_int_equal(advertised_in(), 0);
}

static void what_peers_report_comes_in(void **state)
{
	begin(HP3_CC_NATIVE);
	report(3, 3);
	assert_int_equal(advertised_in(), 3);
	report(1, 1);
	assert_int_equal(advertised_in(), 1);
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
	pass_time(ADVERTISE);
	assert_int_equal(
		rig.acts[HP3_ACT_ADVERTISE], 1); /* who tells of some is told how many come in */
	report(0, 0);
	assert_int_equal(advertised_in(), 0);
	pass_time(10 * ADVERTISE);
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 1); /* and no answer provokes another one */
}

static void an_old_report_changes_nothing(void **state)
{
	const struct hp3_long_counts count = {.out = 9};

	begin(HP3_CC_NATIVE);
	report(2, 2);
	assert_int_equal(hp3_longs_from(rig.e, HP3_ENDS(&q), 1, &count, rig.now), -ESTALE);
	assert_int_equal(advertised_in(), 2);
}

static void a_peer_that_fell_silent_counts_no_more(void **state)
{
	const struct hp3_long_counts none = {0};
	struct qp other = make_qp(1);

	begin(HP3_CC_NATIVE);
	report(2, 2);
	pass_time(9 * ADVERTISE);
	other.remote[3] = 77;
	assert_int_equal(set_up(&other), 0);
	for (uint32_t i = 0; i < rig.cfg.max_pairs; i++) /* each report looks at one pair */
		assert_int_equal(hp3_longs_from(rig.e, HP3_ENDS(&other), i + 1, &none, rig.now), 0);
	assert_int_equal(advertised_in(), 0);
}

/* Rates: cc = dcqcn. Of a line of 10,000 Mb/s, 80 %. */
static void reduced(uint32_t in)
{
	begin(HP3_CC_DCQCN);
	first_of(LONG * 100);
	round_trip(RTT);
	cnp();
	pass_time(60 * US);
	cnp();
	assert_true(rate_mbps() < LINE / 3);
	report(0, (uint16_t)in);
}

static void a_free_path_gives_a_flow_its_share_back(void **state)
{
	uint32_t before, granted = LINE * 8 / 10;

	reduced(1);
	before = rate_mbps();
	round_trip(RTT);
	assert_int_equal(stats()->share_lifts, 1);
	assert_in_range(rate_mbps(), before + granted / 8 - 1, before + granted / 8 + 1);
	for (unsigned i = 0; i < 8; i++)
		round_trip(RTT);
	assert_in_range(rate_mbps(), granted - 1, granted);
}

/* The answer comes 2^32 ns later, and a little: that is no short round trip. */
static void a_late_answer_is_no_short_round_trip(void **state)
{
	const uint32_t *least;
	uint32_t was;

	begin(HP3_CC_DCQCN);
	least = &rig.e->pairs.pairs[0].least_rtt;
	first_of(10 * LONG);
	report(1, 1);
	round_trip(RTT);
	was = *least;
	assert_true(was >= RTT);
	asks(); /* while replies come */
	rig.now += (1ull << 32) + RTT / 4;
	ack(&q, psn - 1);
	assert_true(*least >= was);
	rig.now += 1ull << 30;
	asks(); /* when none came for long */
	rig.now += (1ull << 32) + RTT / 4;
	ack(&q, psn - 1);
	assert_true(*least >= was);
}

static void not_where_a_queue_stands(void **state)
{
	reduced(1);
	round_trip(2 * RTT);
	assert_true(rate_mbps() < LINE / 3);
	assert_int_equal(stats()->share_lifts, 0);
}

/* Whose end sets the rate: back to what it was when the move closed, or above that. */
static void rule_32_a_closing_move_gets_nothing_back(void **state)
{
	reduced(1);
	asks();
	asks();
	assert_int_equal(move(&q, NEW_PORT), 0);
	pass_time(RTT);
	ack(&q, psn - 2);
	assert_int_equal(info(&q).state, HP3_RFR_DRAINING);
	assert_int_equal(stats()->share_lifts, 0);
	assert_true(rate_mbps() < LINE / 3);
}

static void rule_32_old_counts_give_nothing_back(void **state)
{
	reduced(1);
	pass_time(9 * ADVERTISE);
	round_trip(RTT);
	assert_true(rate_mbps() < LINE / 3);
	assert_int_equal(stats()->share_lifts, 0);
	assert_true(stats()->share_unknown > 0);
}

/* Sixteen send to one: that link is the narrower one, and no path leads round its queue. */
static void rule_32_incast_gets_nothing_back(void **state)
{
	uint64_t unknown;

	reduced(16);
	unknown = stats()->share_unknown;
	for (unsigned i = 0; i < 10; i++) {
		pass_time(60 * US);
		cnp();
	}
	report(0, 16);
	for (unsigned i = 0; i < 8; i++)
		round_trip(RTT);
	assert_int_equal(stats()->share_lifts, 0);
	assert_int_equal(stats()->share_unknown, unknown);
	report(0, 1);
	for (unsigned i = 0; i < 2; i++)
		round_trip(RTT);
	assert_true(stats()->share_lifts > 0);
}

/* --- to whom reports go --- */

/* The key of this pair of hosts; NULL: it has none. */
static const uint8_t *pair_key;

static const uint8_t *find_key(const void *table, const struct hp3_pair_ends *ends)
{
	assert_memory_equal(ends->src, q.local, 4);
	assert_memory_equal(ends->dst, q.remote, 4);
	return pair_key;
}

static void a_long_flow_begins_and_ends(void)
{
	first_of(LONG);
	pass_time(2 * ADVERTISE);
	ack(&q, psn - 1);
	pass_time(2 * ADVERTISE);
}

static void a_peer_without_a_key_gets_no_report(void **state)
{
	static const struct hp3_probe_key key = {.agreed = find_key};
	static const uint8_t bytes[HP3_KEY_LEN] = {1};

	rig.cfg.key = &key;
	begin(HP3_CC_DCQCN);
	pair_key = NULL;
	a_long_flow_begins_and_ends();
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
	pair_key = bytes;
	a_long_flow_begins_and_ends();
	assert_true(rig.acts[HP3_ACT_ADVERTISE] != 0);
}

static void without_keys_nobody_gets_a_report(void **state)
{
	rig.cfg.unkeyed = true;
	begin(HP3_CC_DCQCN);
	a_long_flow_begins_and_ends();
	assert_int_equal(rig.acts[HP3_ACT_ADVERTISE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(messages_count_by_their_length, rig_setup),
		cmocka_unit_test_setup(a_long_message_ends_when_it_is_acknowledged, rig_setup),
		cmocka_unit_test_setup(a_send_is_long_once_it_was, rig_setup),
		cmocka_unit_test_setup(long_reads_come_in, rig_setup),
		cmocka_unit_test_setup(what_peers_report_comes_in, rig_setup),
		cmocka_unit_test_setup(an_old_report_changes_nothing, rig_setup),
		cmocka_unit_test_setup(a_peer_that_fell_silent_counts_no_more, rig_setup),
		cmocka_unit_test_setup(a_free_path_gives_a_flow_its_share_back, rig_setup),
		cmocka_unit_test_setup(a_late_answer_is_no_short_round_trip, rig_setup),
		cmocka_unit_test_setup(not_where_a_queue_stands, rig_setup),
		cmocka_unit_test_setup(rule_32_a_closing_move_gets_nothing_back, rig_setup),
		cmocka_unit_test_setup(rule_32_old_counts_give_nothing_back, rig_setup),
		cmocka_unit_test_setup(rule_32_incast_gets_nothing_back, rig_setup),
		cmocka_unit_test_setup(a_peer_without_a_key_gets_no_report, rig_setup),
		cmocka_unit_test_setup(without_keys_nobody_gets_a_report, rig_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
