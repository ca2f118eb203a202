/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode auto: lanes are compared before a queue pair takes several of them (engine/spray/rounds.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "scene.h"
#include "probes/agree.h"
#include "rfr/spraying.h"

#define LARGE  4096u
#define LANES  8u
#define SECOND (1000 * MS)

static struct hp3_agree ask;

static void configure(void)
{
	probing_config();
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_AUTO,
		.flows = 4,
		.lanes = LANES,
		.bytes = LARGE,
		.beat_ns = MS,
		.wait_ns = MS,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	psn = 100;
}

/* A queue pair that was learnt by its packets. */
static void learnt(unsigned i)
{
	q = make_qp(i);
	set_up(&q);
	middle(&q, psn++);
	ack(&q, psn - 1);
}

static enum hp3_spray_state state_of_flow(void)
{
	return (enum hp3_spray_state)info(&q).spray;
}

static uint16_t leaves(uint8_t opcode, uint32_t dma_len)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = opcode,
		.psn = psn++,
		.dma_len = dma_len,
		.payload = payload,
		.payload_len = PMTU};

	assert_int_equal(request(&q, &f), HP3_PASS);
	return rig.vd.sport;
}

static bool is_lane(uint16_t port)
{
	return port != q.home && (port ^ ask.port) < LANES;
}

/* A large message begins: the peer is asked, and agrees. */
static void agrees(void)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_acts acts = {.n = 0};

	leaves(HP3_OP_RC_WRITE_FIRST, 1u << 20);
	assert_int_equal(state_of_flow(), HP3_SPRAY_ASKING);
	pass_time(1);
	ask = rig.other.agree.what;
	ask.kind = HP3_AGREE_YES;
	hp3_agree_told(rig.e, &ends, &ask, rig.now, &acts);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SPRAYING);
	assert_int_equal(leaves(HP3_OP_RC_WRITE_MIDDLE, 0), q.home); /* the fence */
}

/* Answers to the newest probes, of all lanes but `not`. */
static void answers(uint32_t n, uint64_t not )
{
	struct hp3_acts acts;

	for (uint32_t i = rig.nprobes - n; i < rig.nprobes; i++)
		if (!(not >> (rig.probe_ports[i] ^ ask.port) & 1))
			hp3_probe_reply(rig.e, rig.probe_ids[i], false, rig.now, &acts);
	pass_time(1);
}

/* `n` packets: lanes that they took. */
static uint64_t lanes_of(uint32_t n)
{
	uint64_t lanes = 0;

	while (n-- > 0) {
		uint16_t port = leaves(HP3_OP_RC_WRITE_MIDDLE, 0);

		rig.nwire = 0;
		if (is_lane(port))
			lanes |= 1ull << (port ^ ask.port);
		ack(&q, psn - 1);
	}
	return lanes;
}

static void nothing_is_sprayed_before_answers_come(void **state)
{
	configure();
	learnt(0);
	agrees();
	assert_int_equal(rig.nprobes, LANES);
	assert_int_equal(lanes_of(100), 0);
	answers(LANES, 0);
	assert_int_equal(lanes_of(200), 0xff);
	assert_int_equal(stats()->lanes_asked, LANES);
	assert_int_equal(stats()->lanes_compared, 1);
}

/* What was found counts for the next queue pair between the two. */
static void once_for_each_peer(void **state)
{
	configure();
	learnt(0);
	agrees();
	answers(LANES, 0);
	assert_int_equal(lanes_of(200), 0xff);
	learnt(1);
	agrees();
	assert_int_equal(lanes_of(200), 0xff);
	assert_int_equal(rig.nprobes, LANES);
}

/* A lane that takes longer than the receiver waits is not used. It is asked again, with another. */
static void a_lane_that_is_late_is_not_used(void **state)
{
	configure();
	learnt(0);
	agrees();
	answers(LANES, 0x10);
	pass_time(MS / 2 + US);
	pass_time(1);
	assert_int_equal(lanes_of(200), 0xef);
	assert_int_equal(rig.nprobes, LANES);
	for (uint32_t ms = 0; ms < 1100 && rig.nprobes == LANES; ms++) {
		const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
		struct hp3_acts acts = {.n = 0};

		pass_time(MS);
		if (rig.other.kind == HP3_ACT_AGREE)
			ask.turn = rig.other.agree.what.turn;
		hp3_agree_told(rig.e, &ends, &ask, rig.now, &acts);
		assert_int_equal(lanes_of(1) & 0x10, 0);
	}
	assert_int_equal(rig.nprobes, LANES + 2);
	answers(2, 0);
	assert_int_equal(lanes_of(200), 0xff);
}

/* A quarter of them: the agreement ends, and another one begins a second later. */
static void one_path_where_paths_differ(void **state)
{
	configure();
	learnt(0);
	agrees();
	answers(LANES, 0x11);
	pass_time(MS / 2 + US);
	pass_time(1);
	assert_int_equal(lanes_of(1), 0);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
	assert_int_equal(stats()->sprays_differ, 1);
	leaves(HP3_OP_RC_WRITE_FIRST, 1u << 20);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
	pass_time(SECOND);
	agrees();
	assert_int_equal(rig.nprobes, 2 * LANES);
	answers(LANES, 0);
	assert_int_equal(lanes_of(200), 0xff);
}

static void one_path_where_nobody_answers(void **state)
{
	configure();
	learnt(0);
	agrees();
	pass_time(TIMEOUT - US);
	assert_int_equal(lanes_of(1), 0);
	pass_time(2 * US);
	assert_int_equal(lanes_of(1), 0);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
}

/* Nobody would answer standard probes by lane; without any nothing is compared. */
static void without_probes_nothing_is_agreed_on(void **state)
{
	for (int i = 0; i < 2; i++) {
		configure();
		if (i == 0)
			rig.cfg.probing = false;
		else
			rig.cfg.probes = HP3_PROBES_STANDARD;
		rig_configure();
		learnt(0);
		leaves(HP3_OP_RC_WRITE_FIRST, 1u << 20);
		assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(nothing_is_sprayed_before_answers_come),
		RIG_TEST(once_for_each_peer),
		RIG_TEST(a_lane_that_is_late_is_not_used),
		RIG_TEST(one_path_where_paths_differ),
		RIG_TEST(one_path_where_nobody_answers),
		RIG_TEST(without_probes_nothing_is_agreed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
