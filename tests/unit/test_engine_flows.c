/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow table: which packets create a flow, look-up, and a full table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/flows/pending.h"
#include "engine/flows/table.h"
#include "engine/policy.h"
#include "engine/spray/spray.h"
#include "packets.h"

/* Also a length that no RNIC accepts is only forwarded. */
static void the_longest_message_there_is(void **state)
{
	struct qp q = make_qp(0);

	set_up(&q);
	middle(&q, 5);
	ack(&q, 5);
	request(&q, &(struct hp3_fields){
			    .opcode = HP3_OP_RC_WRITE_FIRST, .psn = 6, .dma_len = UINT32_MAX});
	assert_int_equal(rig.vd.kind, HP3_PASS);
	request(&q, &(struct hp3_fields){
			    .opcode = HP3_OP_RC_WRITE_ONLY, .psn = 7, .dma_len = UINT32_MAX});
	assert_int_equal(rig.vd.kind, HP3_PASS);
}

static void only_a_request_that_leaves_creates_a_flow(void **state)
{
	struct qp q = make_qp(0);

	ack(&q, 5);
	nak(&q, 5);
	read_response(&q, HP3_OP_RC_READ_RESP_ONLY, 5, 64);
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_ONLY, .psn = 5});
	response(&q, &(struct hp3_fields){.opcode = HP3_OP_CNP});
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .psn = 5});
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_RC_READ_RESP_ONLY, .psn = 5});
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_CNP});
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_UC_SEND_ONLY});
	request(&q, &(struct hp3_fields){.opcode = HP3_OP_UD_SEND_ONLY});
	assert_int_equal(hp3_engine_flows(rig.e), 0);
	middle(&q, 6);
	assert_int_equal(hp3_engine_flows(rig.e), 1);
	assert_int_equal(rig.vd.flow, flow_of(&q));
	middle(&q, 7);
	assert_int_equal(hp3_engine_flows(rig.e), 1);
	assert_int_equal(stats()->flows_created, 1);
	assert_int_equal(info(&q).una, 6);
	assert_int_equal(info(&q).nxt, 8);
	assert_int_equal(info(&q).inflight, 2);
	assert_int_equal(info(&q).port, q.home);
}

#define KEYS 18u

/* Rule 17: both addresses, family, VLAN (of both tags) and remote QPN make the key; replies find
 * back by lqpn. */
static void rule_17_keys(void **state)
{
	struct qp q[KEYS];

	rig.cfg.max_pairs = KEYS;
	rig_configure();
	for (unsigned i = 0; i < KEYS; i++) {
		q[i] = make_qp(0);
		q[i].home = (uint16_t)(51000 + i);
	}
	q[1].vlan = 100;
	q[2].vlan = 200;
	q[3].ipv6 = true; /* the same leading bytes */
	q[4].ipv6 = q[5].ipv6 = q[6].ipv6 = true;
	q[4].vlan = 100;
	q[5].local[15] = 1;
	q[6].remote[15] = 1;
	q[7].local[3] = 9;
	q[8].remote[3] = 9;
	memcpy(q[9].local, q[0].remote, 16); /* the other way round */
	memcpy(q[9].remote, q[0].local, 16);
	q[10].rqpn++;
	q[10].lqpn++;
	q[11].rqpn = q[0].lqpn;
	q[11].lqpn = q[0].rqpn;
	q[12].vlan = HP3_VLAN_AD | 100; /* another type of tag */
	q[13].vlan = 7 << HP3_VLAN_INNER_SHIFT | 100; /* another tag inside */
	q[14].vlan = 8 << HP3_VLAN_INNER_SHIFT | 100;
	q[15].vlan = HP3_VLAN_AD | 7 << HP3_VLAN_INNER_SHIFT | 100;
	q[16].vlan = HP3_VLAN_INNER_AD | 7 << HP3_VLAN_INNER_SHIFT | 100;
	q[17].vlan = q[15].vlan;
	q[17].ipv6 = true;
	for (unsigned i = 0; i < KEYS; i++) {
		assert_int_equal(set_up(&q[i]), 0);
		assert_int_equal(hp3_engine_flows(rig.e), i + 1);
		middle(&q[i], 1000 * i);
		middle(&q[i], 1000 * i + 1);
		assert_int_equal(hp3_engine_flows(rig.e), i + 1);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		ack(&q[i], 1000 * i);
		assert_int_equal(rig.vd.flow, flow_of(&q[i]));
	}
	for (unsigned i = 0; i < KEYS; i++) {
		assert_int_equal(info(&q[i]).una, 1000 * i + 1);
		assert_int_equal(info(&q[i]).home, 51000 + i);
		assert_int_equal(info(&q[i]).vlan, q[i].vlan);
		assert_memory_equal(info(&q[i]).local, q[i].local, 16);
		assert_memory_equal(info(&q[i]).remote, q[i].remote, 16);
	}
	assert_int_equal(hp3_engine_flows(rig.e), KEYS);
	assert_int_equal(stats()->contradictions, 0);
}

/* The priority of a tag is not part of the key. */
static void vlan_priority_does_not_count(void **state)
{
	struct qp q = make_qp(0), urgent;

	q.vlan = HP3_VLAN_AD | 7 << HP3_VLAN_INNER_SHIFT | 100;
	middle(&q, 5);
	urgent = q;
	urgent.priority = 3;
	middle(&urgent, 6);
	assert_int_equal(hp3_engine_flows(rig.e), 1);
	assert_int_equal(info(&q).nxt, 7);
}

/* What hp3_find_burst() found is a hint: packets of a burst see what those before them changed. */
static void a_burst_sees_its_own_changes(void **state)
{
	struct qp q = make_qp(0), other = make_qp(1);
	struct hp3_pkt pkts[2];
	struct hp3_verdict vd;
	struct hp3_acts acts;
	uint32_t flow;

	set_up(&q);
	middle(&q, 5);
	flow = flow_of(&q);
	pkts[0] = rig.pkt;
	hp3_find_burst(rig.e, pkts, 1, HP3_DIR_TX);
	assert_int_equal(pkts[0].flow, flow);
	assert_int_equal(tear_down(&q), 0);
	middle(&other, 9); /* takes the same record */
	assert_int_equal(flow_of(&other), flow);
	hp3_tx(rig.e, &pkts[0], rig.now, &vd, &acts);
	assert_int_not_equal(vd.flow, flow);
	assert_int_equal(vd.flow, flow_of(&q));
	assert_int_equal(info(&other).nxt, 10);
}

static void table_full_degrades_to_plain_forwarding(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), c = make_qp(2);

	rig.cfg.max_flows = 2;
	rig_configure();
	middle(&a, 1);
	set_up(&b);
	middle(&b, 1);
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(middle(&c, i), HP3_PASS);
		expect_left(rig.nwire - 1, i, c.home, false);
		assert_int_equal(rig.vd.flow, HP3_NO_FLOW);
		assert_int_equal(stats()->untracked, i);
		assert_int_equal(stats()->flows_full, i);
	}
	assert_int_equal(flow_of(&c), HP3_NO_FLOW);
	assert_int_equal(set_up(&c), -ENOSPC);
	assert_int_equal(move(&c, 60000), -ENOENT);
	middle(&a, 2);
	assert_int_equal(info(&a).nxt, 3);
	assert_int_equal(tear_down(&b), 0);
	middle(&c, 6);
	assert_int_equal(info(&c).una, 6);
	assert_int_equal(stats()->untracked, 5);
}

static void table_of(unsigned flows)
{
	rig.cfg.max_flows = flows;
	rig.cfg.pair_by_challenge = true;
	rig.cfg.challenge_hits = 1;
	rig_configure();
}

/* Rule 15: a queue pair without room may be answered with its PSNs. Nobody near them is paired, for
 * as long as that; all others are. */
static void rule_15_no_room_stops_those_near_it(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), c = make_qp(2);

	table_of(2);
	middle(&b, 500000);
	last(&a, 1);
	assert_int_equal(stats()->challenges, 1);
	middle(&c, 3);
	ack(&a, 1);
	assert_false(info(&a).paired); /* asked before, answered after */
	for (uint32_t i = 2; i < 10; i++) {
		middle(&c, i + 1);
		last(&a, i);
		ack(&a, i);
	}
	assert_int_equal(stats()->challenges, 1);
	assert_false(info(&a).paired);
	assert_int_equal(info(&a).unpaired, HP3_UNPAIRED_NEAR);
	last(&b, 500001);
	ack(&b, 500001);
	assert_true(info(&b).paired); /* it goes on elsewhere */
	rig.now += rig.cfg.challenge_timeout_ns + rig.cfg.challenge_quiet_ns + MS;
	middle(&c, 900000);
	last(&a, 10);
	ack(&a, 10);
	assert_true(info(&a).paired);
}

/* Where all were paired nobody has noted who sends where: then they wait until that is known. */
static void rule_15_no_room_waits_while_the_table_is_not_whole(void **state)
{
	struct qp a = make_qp(0), b = make_qp(1), c = make_qp(2);

	table_of(2);
	set_up(&a);
	set_up(&b);
	middle(&a, 1);
	middle(&b, 1000);
	pass_time(10 * rig.cfg.challenge_timeout_ns);
	middle(&c, 900000);
	assert_int_equal(tear_down(&b), 0);
	last(&b, 500000);
	ack(&b, 500000);
	assert_false(info(&b).paired);
	assert_int_equal(info(&b).unpaired, HP3_UNPAIRED_UNTRACKED);
	assert_int_equal(stats()->challenge_untracked, 1);
	rig.now += rig.cfg.challenge_timeout_ns + rig.cfg.challenge_quiet_ns + MS;
	last(&b, 500001);
	ack(&b, 500001);
	assert_true(info(&b).paired);
}

/* Another one asks with the PSN of a forced challenge: the answer may be its. */
static void rule_15_no_room_makes_forced_challenges_void(void **state)
{
	struct qp a = make_qp(0), c = make_qp(2);
	uint32_t psn = 1000;

	table_of(1);
	do {
		middle(&a, psn++);
	} while (!(rig.vd.flags & HP3_SET_ACKREQ) && psn < 2000);
	assert_in_range(psn, 1001, 1999);
	last(&c, psn - 1);
	ack(&a, psn - 1);
	rig.now += rig.cfg.challenge_timeout_ns;
	middle(&a, psn);
	assert_false(info(&a).paired);
	assert_int_equal(stats()->challenge_hits, 0);
	assert_int_equal(stats()->challenge_misses, 1);
}

static void pairs_full(void **state)
{
	struct qp q[4];

	rig.cfg.max_pairs = 3;
	rig_configure();
	for (unsigned i = 0; i < 4; i++) {
		q[i] = make_qp(i);
		q[i].remote[3] = (uint8_t)(100 + i);
		if (i == 0)
			set_up(&q[i]);
		assert_int_equal(middle(&q[i], 1), HP3_PASS);
	}
	assert_int_equal(hp3_engine_flows(rig.e), 3);
	assert_int_equal(stats()->pairs_full, 1);
	assert_int_equal(stats()->untracked, 1);
	assert_int_equal(set_up(&q[3]), -ENOSPC);
	tear_down(&q[0]); /* the pair goes with its last flow */
	middle(&q[3], 2);
	assert_int_not_equal(flow_of(&q[3]), HP3_NO_FLOW);
}

/* Every record and every key comes back: ten times as many flows as there is room for. */
static void records_are_used_again(void **state)
{
	for (unsigned round = 0; round < 10; round++) {
		for (unsigned i = 0; i < rig.cfg.max_flows; i++) {
			struct qp q = make_qp(round * 1000 + i);

			q.remote[3] = (uint8_t)(i % rig.cfg.max_pairs);
			assert_int_equal(set_up(&q), 0);
			rig.nwire = 0;
			last(&q, i);
			ack(&q, i);
			assert_int_equal(move(&q, 60000), 0);
		}
		assert_int_equal(hp3_engine_flows(rig.e), rig.cfg.max_flows);
		assert_int_equal(hp3_engine_moved(rig.e), rig.cfg.max_flows);
		for (unsigned i = 0; i < rig.cfg.max_flows; i++) {
			struct qp q = make_qp(round * 1000 + i);

			q.remote[3] = (uint8_t)(i % rig.cfg.max_pairs);
			assert_int_equal(tear_down(&q), 0);
			assert_int_equal(flow_of(&q), HP3_NO_FLOW);
		}
		assert_int_equal(hp3_engine_flows(rig.e), 0);
		assert_int_equal(hp3_engine_moved(rig.e), 0);
	}
	assert_int_equal(stats()->flows_full, 0);
	assert_int_equal(stats()->pairs_full, 0);
	assert_int_equal(hp3_flow_next(rig.e, 0), HP3_NO_FLOW);
}

/* What an engine before had put off there ends no flow of the next one. */
static void engines_begin_in_memory_of_others(void **state)
{
	struct hp3_engine_config table, cfg;
	struct hp3_acts acts = {0};
	struct hp3_engine *e;
	uint8_t *mem, *at;
	size_t size;

	hp3_policy_defaults(&table);
	table.spray.mode = HP3_SPRAY_ALL;
	table.max_flows = 64;
	table.max_pairs = 16;
	table.max_moves = 16;
	table.hold_packets = 256;
	cfg = hp3_policy_settled(&table);
	size = hp3_engine_size(&cfg);
	mem = calloc(1, size + 64);
	at = (uint8_t *)(((uintptr_t)mem + 63) & ~(uintptr_t)63);
	e = hp3_engine_create(at, size, &cfg);
	assert_non_null(e);
	for (uint32_t i = 0; i < cfg.max_flows; i++) {
		e->flows[i].pending = true;
		e->pending[i] = (struct hp3_pending){.flow = i, .end = true};
	}
	e = hp3_engine_create(at, size, &cfg);
	for (uint64_t now = 1; now < 10000000000; now += 100000000) {
		acts.n = 0;
		hp3_tick(e, now, &acts);
		assert_int_equal(acts.n, 0);
	}
	assert_int_equal(hp3_flow_next(e, 0), HP3_NO_FLOW);
	assert_int_equal(hp3_engine_flows(e), 0);
	free(mem);
}

static void limits_of_creation(void **state)
{
	struct hp3_engine_config cfg = rig.cfg;
	size_t size = hp3_engine_size(&cfg);
	uint8_t *mem = aligned_alloc(64, size + 64);

	assert_non_null(hp3_engine_create(mem, size, &cfg));
	assert_null(hp3_engine_create(NULL, size, &cfg));
	assert_null(hp3_engine_create(mem + 8, size, &cfg));
	assert_null(hp3_engine_create(mem, size - 1, &cfg));
#define REFUSED(field, value)                                                                      \
	cfg = rig.cfg;                                                                             \
	cfg.field = value;                                                                         \
	assert_null(hp3_engine_create(mem, SIZE_MAX, &cfg));
	REFUSED(max_flows, 0)
	REFUSED(max_flows, HP3_BUCKET_REF)
	REFUSED(max_pairs, 0)
	REFUSED(max_moves, 0)
	REFUSED(max_moves, HP3_NO_SLOT)
	REFUSED(challenge_hits, 0)
	REFUSED(challenge_spread, 0)
	free(mem);
}

static void names_and_counters(void **state)
{
	const struct hp3_stats *s = stats();
	struct qp q = make_qp(0);

	middle(&q, 1);
	assert_int_equal(s->tx_requests, 1);
	assert_string_equal(hp3_event_name(HP3_EVENT_SWITCH), "switch");
	assert_string_equal(hp3_event_name(HP3_EVENT_UNPAIR), "unpair");
	assert_string_equal(hp3_event_name(HP3_EVENT_MAX), "?");
	assert_string_equal(hp3_cause_name(HP3_CAUSE_OPERATOR), "operator");
	assert_string_equal(hp3_cause_name(HP3_CAUSE_MAX), "?");
	assert_string_equal(hp3_pairing_name(HP3_PAIRING_CHALLENGE), "challenge");
	assert_string_equal(hp3_pairing_name(HP3_PAIRING_EVENT + 1), "?");
	assert_int_equal(
		hp3_flow_info(rig.e, rig.cfg.max_flows, 0, &(struct hp3_flow_info){0}), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_longest_message_there_is),
		RIG_TEST(only_a_request_that_leaves_creates_a_flow),
		RIG_TEST(rule_17_keys),
		RIG_TEST(vlan_priority_does_not_count),
		RIG_TEST(a_burst_sees_its_own_changes),
		RIG_TEST(table_full_degrades_to_plain_forwarding),
		RIG_TEST(rule_15_no_room_stops_those_near_it),
		RIG_TEST(rule_15_no_room_waits_while_the_table_is_not_whole),
		RIG_TEST(rule_15_no_room_makes_forced_challenges_void),
		RIG_TEST(pairs_full),
		RIG_TEST(records_are_used_again),
		RIG_TEST(engines_begin_in_memory_of_others),
		RIG_TEST(limits_of_creation),
		RIG_TEST(names_and_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
