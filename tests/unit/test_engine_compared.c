/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode auto: EVs are compared before a queue pair uses several of them (engine/spray/rounds.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/info.h"
#include "engine/spray/spray.h"
#include "packets.h"
#include "scene.h"
#include "probes/agree.h"
#include "rfr/spraying.h"

#define LARGE  4096u
#define EVS    8u
#define SECOND (1000 * MS)

static struct hp3_agree ask;
static uint32_t evs;
static uint32_t first_psn = 100;

static void configure(uint32_t n)
{
	evs = n;
	probing_config();
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_AUTO,
		.flows = 4,
		.evs = n,
		.bytes = LARGE,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	psn = first_psn;
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

static bool is_spray_ev(uint16_t port)
{
	return port != q.home && (port ^ ask.port) < evs;
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
	hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SPRAYING);
	assert_int_equal(leaves(HP3_OP_RC_WRITE_MIDDLE, 0), info(&q).port); /* the fence */
}

/* Answers to the newest probes, of all EVs but `not`. */
static void answers(uint32_t n, uint64_t not )
{
	struct hp3_acts acts;

	for (uint32_t i = rig.nprobes - n; i < rig.nprobes; i++)
		if (!(not >> (rig.probe_ports[i] ^ ask.port) & 1))
			hp3_probe_reply(rig.e, rig.probe_ids[i], false, rig.now, &acts);
	pass_time(1);
}

/* `n` packets: EVs that they took. */
static uint64_t evs_of(uint32_t n)
{
	uint64_t taken = 0;

	while (n-- > 0) {
		uint16_t port = leaves(HP3_OP_RC_WRITE_MIDDLE, 0);

		rig.nwire = 0;
		if (is_spray_ev(port))
			taken |= 1ull << (port ^ ask.port);
		ack(&q, psn - 1);
	}
	return taken;
}

static void nothing_is_sprayed_before_answers_come(void **state)
{
	configure(EVS);
	learnt(0);
	agrees();
	assert_int_equal(rig.nprobes, EVS);
	assert_int_equal(evs_of(100), 0);
	answers(EVS, 0);
	assert_int_equal(evs_of(200), 0xff);
	assert_int_equal(stats()->evs_probed, EVS);
	assert_int_equal(stats()->evs_compared, 1);
}

/* What was found counts for the next queue pair between the two. */
static void once_for_each_peer(void **state)
{
	configure(EVS);
	learnt(0);
	agrees();
	answers(EVS, 0);
	assert_int_equal(evs_of(200), 0xff);
	learnt(1);
	agrees();
	assert_int_equal(evs_of(200), 0xff);
	assert_int_equal(rig.nprobes, EVS);
}

/* An EV that takes longer than the receiver waits is not used. It is asked again, with another. */
static void an_ev_that_is_late_is_not_used(void **state)
{
	configure(EVS);
	learnt(0);
	agrees();
	answers(EVS, 0x10);
	pass_time(MS / 2 + US);
	pass_time(1);
	assert_int_equal(evs_of(200), 0xef);
	assert_int_equal(rig.nprobes, EVS);
	for (uint32_t ms = 0; ms < 1100 && rig.nprobes == EVS; ms++) {
		const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
		struct hp3_acts acts = {.n = 0};

		pass_time(MS);
		if (rig.other.kind == HP3_ACT_AGREE)
			ask.turn = rig.other.agree.what.turn;
		hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
		assert_int_equal(evs_of(1) & 0x10, 0);
	}
	assert_int_equal(rig.nprobes, EVS + 2);
	answers(2, 0);
	assert_int_equal(evs_of(200), 0xff);
}

/* Time goes by while a large message leaves; the peer answers each keep-alive and each probe. */
static uint64_t evs_in(uint32_t ms)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	uint64_t taken = 0;

	while (ms-- > 0) {
		struct hp3_acts acts = {.n = 0};

		rig.nprobes = 0;
		pass_time(MS);
		answers(rig.nprobes, 0);
		if (rig.other.kind == HP3_ACT_AGREE)
			ask.turn = rig.other.agree.what.turn;
		hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
		taken |= evs_of(1);
	}
	return taken;
}

/* All EVs are known when a probe of another set-up is lost: its EV is asked again. */
static void an_ev_that_setup_missed_is_probed_again(void **state)
{
	configure(64);
	rig.cfg.setup_probing = true;
	rig.cfg.setup_rounds = 1;
	rig_configure();
	learnt(0);
	agrees();
	answers(rig.nprobes, 0);
	evs_in(200);
	assert_int_equal(info(&q).evs, 64);
	rig.nprobes = 0;
	q = make_qp(1);
	psn = 100;
	set_up_at(&q, psn);
	assert_int_equal(rig.nprobes, ASKED);
	rig.now += RTT;
	answers(ASKED - 1, 0); /* all but the first */
	rig.now += RTT;
	middle(&q, psn++);
	ack(&q, psn - 1);
	agrees();
	evs_of(1);
	evs_in(5);
	assert_in_range(info(&q).evs, 64 - ASKED, 63);
	evs_in(1200);
	assert_int_equal(info(&q).evs, 64);
}

static void answers_of(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		probe_reply(i, false);
}

/*
 * A set-up with an agreement and rounds of probes. In each, `first` answers come after RTT and
 * decide it, the others `later`, without the `lost` ones. Then a large message begins.
 */
static void set_up_answered(uint32_t rounds, uint32_t first, uint64_t later, uint32_t lost)
{
	struct hp3_acts acts = {.n = 0};
	struct hp3_ends ends;

	configure(64);
	rig.cfg.setup_probing = rig.cfg.spray.setup = true;
	rig.cfg.setup_rounds = (uint8_t)rounds;
	rig_configure();
	q = make_qp(0);
	ends = (struct hp3_ends){.local = q.local, .remote = q.remote};
	set_up_at(&q, psn);
	assert_int_equal(rig.nprobes, ASKED);
	pass_time(1);
	ask = rig.other.agree.what;
	ask.kind = HP3_AGREE_YES;
	hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SPRAYING);
	for (uint32_t round = 0, at = 0; round < rounds; round++, at += ASKED) {
		rig.now += RTT;
		answers_of(at, at + first);
		pass_time(later);
		assert_int_equal(stats()->placed, round + 1 == rounds);
		answers_of(at + first, at + ASKED - lost);
	}
	pass_time(4 * RTT);
	leaves(HP3_OP_RC_WRITE_FIRST, 1u << 20);
}

static int evs_used(void)
{
	return __builtin_popcountll(evs_of(400));
}

/* The decision of a set-up waits for the first answers alone. Those behind them count, too. */
static void answers_behind_the_decision_count(void **state)
{
	set_up_answered(1, 1, RTT / 4, 0);
	assert_in_range(evs_used(), 32, 64);
	assert_int_equal(stats()->sprays_differ, 0);
}

/* ... also when the next round has begun in the meantime. */
static void answers_to_the_round_before_count(void **state)
{
	set_up_answered(2, 1, RTT / 4, 0);
	assert_int_equal(rig.nprobes, 2 * ASKED);
	assert_in_range(evs_used(), 32, 64);
	assert_int_equal(stats()->sprays_differ, 0);
}

/* One probe without an answer is a lost packet. Its EV is not used before it has answered. */
static void one_lost_probe_is_no_difference(void **state)
{
	set_up_answered(1, 3, RTT / 4, 1);
	assert_int_equal(evs_of(400) >> (rig.probe_ports[ASKED - 1] ^ ask.port) & 1, 0);
	assert_in_range(evs_used(), 32, 63);
	assert_int_equal(stats()->sprays_differ, 0);
}

/* Two of four: paths differ, or are broken. */
static void two_silent_paths_are(void **state)
{
	set_up_answered(1, 2, RTT / 4, 2);
	assert_int_equal(evs_used(), 1); /* the one chosen at set-up */
	assert_int_equal(stats()->sprays_differ, 1);
}

/* A quarter of them: the agreement ends, and another one begins a second later. */
static void one_path_where_paths_differ(void **state)
{
	configure(EVS);
	learnt(0);
	agrees();
	answers(EVS, 0x11);
	pass_time(MS / 2 + US);
	pass_time(1);
	assert_int_equal(evs_of(1), 0);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
	assert_int_equal(stats()->sprays_differ, 1);
	leaves(HP3_OP_RC_WRITE_FIRST, 1u << 20);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
	pass_time(SECOND);
	agrees();
	assert_int_equal(rig.nprobes, 2 * EVS);
	answers(EVS, 0);
	assert_int_equal(evs_of(200), 0xff);
}

static void one_path_where_nobody_answers(void **state)
{
	configure(EVS);
	learnt(0);
	agrees();
	pass_time(TIMEOUT - US);
	assert_int_equal(evs_of(1), 0);
	pass_time(2 * US);
	assert_int_equal(evs_of(1), 0);
	assert_int_equal(state_of_flow(), HP3_SPRAY_SINGLE);
}

/* Nobody would answer standard probes per EV; without any nothing is compared. */
static void without_probes_nothing_is_agreed_on(void **state)
{
	for (int i = 0; i < 2; i++) {
		configure(EVS);
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

/* --- paths that are presumed alike (rfr/presume.h) --- */

#define SHORT 2048u
#define AWAIT (MS / HP3_PRESUME_AWAIT)

static void comparing(uint32_t n)
{
	configure(n);
	rig.cfg.spray.short_bytes = SHORT;
	rig.cfg.spray.bytes = 1u << 20;
	rig_configure();
	learnt(0);
	agrees();
}

static void presuming(void)
{
	comparing(EVS);
	answers(EVS, 0);
	assert_int_equal(evs_of(200), 0xff);
}

/* A message of this many packets: EVs that they took. */
static uint64_t evs_of_message(uint32_t n)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t port = leaves(i == 0      ? HP3_OP_RC_WRITE_FIRST
				       : i + 1 < n ? HP3_OP_RC_WRITE_MIDDLE
						   : HP3_OP_RC_WRITE_LAST,
			n * PMTU);

		rig.nwire = 0;
		taken |= is_spray_ev(port) ? 1ull << (port ^ ask.port) : 0;
		ack(&q, psn - 1);
	}
	return taken;
}

/* The first comparison probes 16 of 64 EVs. */
static void evs_that_were_not_compared_are_presumed_alike(void **state)
{
	comparing(64);
	assert_int_equal(rig.nprobes, 16);
	answers(16, 0);
	assert_in_range(__builtin_popcountll(evs_of_message(1000)), 60, 64);
	/* They are compared as long as large messages leave. */
	assert_int_equal(info(&q).evs, 16);
	evs_of_message(1100);
	evs_in(200);
	assert_int_equal(info(&q).evs, 64);
}

static void they_are_not_if_one_was_too_slow(void **state)
{
	comparing(64);
	answers(16, 1ull << (rig.probe_ports[0] ^ ask.port));
	pass_time(MS / 2 + US);
	pass_time(1);
	assert_int_equal(__builtin_popcountll(evs_of_message(1000)), 15);
}

static enum hp3_presumed presumed(void)
{
	struct hp3_pair_info i;

	assert_int_equal(hp3_pair_info(rig.e, hp3_pair_of(rig.e, flow_of(&q)), rig.now, &i), 0);
	return (enum hp3_presumed)i.presumed;
}

static void peer_says(enum hp3_agree_kind kind, uint64_t slow)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_acts acts = {.n = 0};

	ask.kind = (uint8_t)kind;
	ask.slow = slow;
	ask.next = kind == HP3_AGREE_MISSING ? psn - 1 : HP3_NO_PSN;
	hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
}

/* The newest SPRAYING, and the peer's YES to it. */
static void stays_agreed(uint64_t objects)
{
	pass_time(MS);
	ask = rig.other.agree.what;
	peer_says(HP3_AGREE_YES, objects);
}

static void short_messages_are_sprayed_while_paths_are_presumed_alike(void **state)
{
	presuming();
	assert_int_not_equal(evs_of_message(64), 0);
	assert_int_not_equal(evs_of_message(SHORT / PMTU), 0);
	assert_int_equal(evs_of_message(SHORT / PMTU - 1), 0);
	assert_int_equal(presumed(), HP3_PRESUMED_ALIKE);
	/* also of another queue pair, without a comparison */
	learnt(20);
	agrees();
	rig.nprobes = 0;
	assert_int_not_equal(evs_of_message(64), 0);
	assert_int_equal(rig.nprobes, 0);
}

static void short_messages_take_one_path_without_the_key(void **state)
{
	presuming();
	rig.cfg.spray.short_bytes = 0;
	hp3_engine_reconfigure(rig.e, &rig.cfg);
	assert_int_equal(evs_of_message(64), 0);
	assert_int_equal(presumed(), HP3_PRESUMED_OFF);
}

/* Round trips of three answers, us. */
static void compared_at_setup(uint32_t least, uint32_t most)
{
	struct hp3_round r = {.n = 3, .next = 3};

	for (uint32_t i = 0; i < 3; i++)
		r.probe[i] = (struct hp3_probe){
			.state = HP3_PROBE_ANSWERED, .rtt_ns = (i == 1 ? most : least) * 1000};
	hp3_spray_compared(rig.e, &r);
}

/* ... for a rest, and until probes have compared paths again. */
static void one_late_packet_ends_the_presumption(void **state)
{
	presuming();
	evs_of_message(64);
	peer_says(HP3_AGREE_MISSING, 0); /* of a PSN that has arrived */
	assert_int_not_equal(evs_of_message(64), 0);
	leaves(HP3_OP_RC_WRITE_FIRST, 64 * PMTU);
	peer_says(HP3_AGREE_MISSING, 0);
	pass_time(AWAIT - US);
	assert_int_equal(stats()->presumption_ended, 0);
	pass_time(US);
	assert_int_equal(stats()->presumption_ended, 1);
	ack(&q, psn - 1);
	assert_int_equal(presumed(), HP3_PRESUMED_LATE);
	assert_int_equal(evs_of_message(64), 0);
	for (uint32_t i = 0; i < HP3_PRESUME_REST / MS; i++) {
		stays_agreed(0);
		assert_int_equal(evs_of_message(64), 0);
	}
	assert_int_not_equal(evs_of_message(1024), 0); /* sprayed by the old comparison */
	assert_int_equal(evs_of_message(64), 0);
	assert_int_equal(presumed(), HP3_PRESUMED_UNKNOWN);
	compared_at_setup(10, 10 + MS / US);
	assert_int_equal(evs_of_message(64), 0);
	compared_at_setup(10, 20);
	assert_int_not_equal(evs_of_message(64), 0);
}

/* Until it is known how late a packet is, short messages take one path. */
static void a_packet_that_is_a_little_late_ends_nothing(void **state)
{
	presuming();
	leaves(HP3_OP_RC_WRITE_FIRST, 64 * PMTU);
	peer_says(HP3_AGREE_MISSING, 0);
	leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	assert_true(rig.vd.flags & HP3_SET_ACKREQ);
	leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	assert_false(rig.vd.flags & HP3_SET_ACKREQ);
	pass_time(AWAIT / 2);
	ack(&q, psn - 1);
	assert_int_equal(presumed(), HP3_PRESUMED_LATE);
	assert_int_equal(evs_of_message(64), 0);
	pass_time(AWAIT / 2);
	assert_int_equal(presumed(), HP3_PRESUMED_ALIKE);
	assert_int_not_equal(evs_of_message(64), 0);
	assert_int_equal(stats()->presumption_suspended, 1);
	assert_int_equal(stats()->presumption_ended, 0);
}

/* The peer asks about the next packet while hp3d awaits one. */
static void a_second_packet_is_awaited_after_the_first(void **state)
{
	presuming();
	leaves(HP3_OP_RC_WRITE_FIRST, 64 * PMTU);
	peer_says(HP3_AGREE_MISSING, 0);
	pass_time(AWAIT / 2);
	ack(&q, psn - 1);
	leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	peer_says(HP3_AGREE_MISSING, 0);
	pass_time(AWAIT / 2);
	assert_int_equal(presumed(), HP3_PRESUMED_LATE);
	pass_time(AWAIT - US);
	assert_int_equal(stats()->presumption_ended, 0);
	pass_time(US);
	assert_int_equal(stats()->presumption_ended, 1);
	assert_int_equal(stats()->presumption_suspended, 2);
}

/* PSNs are 24 bits. */
static void the_psn_behind_the_awaited_one_may_be_0(void **state)
{
	first_psn = HP3_PSN_MASK - 203; /* presuming() sends as many */
	presuming();
	first_psn = 100;
	assert_int_equal(psn, HP3_PSN_MASK);
	leaves(HP3_OP_RC_WRITE_FIRST, 64 * PMTU);
	peer_says(HP3_AGREE_MISSING, 0);
	psn = 0;
	leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	ack(&q, 0);
	pass_time(AWAIT);
	assert_int_equal(stats()->presumption_ended, 0);
	assert_int_equal(presumed(), HP3_PRESUMED_ALIKE);
}

/* The acknowledgement may lie unread while hp3d does not run, or does not poll packets. */
static void no_presumption_ends_before_packets_are_polled(void **state)
{
	presuming();
	leaves(HP3_OP_RC_WRITE_FIRST, 64 * PMTU);
	peer_says(HP3_AGREE_MISSING, 0);
	pass_time(2 * AWAIT);
	hp3_rx_blocked(rig.e, true, rig.now);
	pass_time(AWAIT);
	pass_time(AWAIT);
	hp3_rx_blocked(rig.e, false, rig.now);
	assert_int_equal(stats()->presumption_ended, 0);
	ack(&q, psn - 1);
	pass_time(AWAIT);
	assert_int_equal(stats()->presumption_ended, 0);
	assert_int_equal(presumed(), HP3_PRESUMED_ALIKE);
}

static void a_retransmission_ends_the_presumption(void **state)
{
	presuming();
	for (uint32_t i = 0; i < 8; i++)
		leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	psn -= 8;
	leaves(HP3_OP_RC_WRITE_MIDDLE, 0);
	assert_int_equal(stats()->presumption_ended, 1);
}

static void a_peer_may_object(void **state)
{
	presuming();
	assert_int_not_equal(evs_of_message(64), 0);
	stays_agreed(HP3_AGREE_OBJECTS);
	assert_int_equal(evs_of_message(64), 0);
	stays_agreed(0);
	assert_int_not_equal(evs_of_message(64), 0);
	/* also after its answer to the same message */
	peer_says(HP3_AGREE_YES, HP3_AGREE_OBJECTS);
	assert_int_equal(evs_of_message(64), 0);
	peer_says(HP3_AGREE_YES, 0); /* that answer again, late */
	assert_int_equal(evs_of_message(64), 0);
	stays_agreed(0);
	assert_int_not_equal(evs_of_message(64), 0);
	assert_int_equal(stats()->presumption_ended, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(nothing_is_sprayed_before_answers_come),
		RIG_TEST(once_for_each_peer),
		RIG_TEST(an_ev_that_is_late_is_not_used),
		RIG_TEST(an_ev_that_setup_missed_is_probed_again),
		RIG_TEST(answers_behind_the_decision_count),
		RIG_TEST(answers_to_the_round_before_count),
		RIG_TEST(one_lost_probe_is_no_difference),
		RIG_TEST(two_silent_paths_are),
		RIG_TEST(one_path_where_paths_differ),
		RIG_TEST(one_path_where_nobody_answers),
		RIG_TEST(without_probes_nothing_is_agreed_on),
		RIG_TEST(short_messages_are_sprayed_while_paths_are_presumed_alike),
		RIG_TEST(short_messages_take_one_path_without_the_key),
		RIG_TEST(evs_that_were_not_compared_are_presumed_alike),
		RIG_TEST(they_are_not_if_one_was_too_slow),
		RIG_TEST(one_late_packet_ends_the_presumption),
		RIG_TEST(a_packet_that_is_a_little_late_ends_nothing),
		RIG_TEST(a_second_packet_is_awaited_after_the_first),
		RIG_TEST(the_psn_behind_the_awaited_one_may_be_0),
		RIG_TEST(no_presumption_ends_before_packets_are_polled),
		RIG_TEST(a_retransmission_ends_the_presumption),
		RIG_TEST(a_peer_may_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
