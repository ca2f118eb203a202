/* SPDX-License-Identifier: BSD-3-Clause */
/* What begins an agreement to spray a queue pair, and what does not (docs/internals/spray.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "packets.h"
#include "probes/agree.h"
#include "rfr/spraying.h"

#define LARGE 4096u
#define LONG  64u /* packets: far more than LARGE bytes */

static struct qp q;
static uint32_t psn;

static enum hp3_spray_state state(void)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_flow_info info;

	assert_int_equal(
		hp3_flow_info(rig.e, hp3_flow_find(rig.e, &ends, q.rqpn), rig.now, &info), 0);
	return (enum hp3_spray_state)info.spray;
}

static void configure(void)
{
	rig.cfg.spray = (struct hp3_spray_params){.mode = HP3_SPRAY_ALL,
		.flows = 4,
		.evs = 8,
		.bytes = LARGE,
		.keepalive_ns = MS,
		.wait_ns = MS,
		.setup = true,
		.alike = 150,
		.late_ns = 20 * US,
		.rest_ns = MS};
	rig_configure();
	q = make_qp(0);
	psn = 100;
}

/* A queue pair that has sent, and whose path MTU is known. */
static void ready(void)
{
	configure();
	set_up(&q);
	middle(&q, psn++);
	ack(&q, psn - 1);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* The newest message to the peer. */
static struct hp3_agree said(void)
{
	pass_time(1);
	assert_int_equal(rig.other.kind, HP3_ACT_AGREE);
	return rig.other.agree.what;
}

/* The peer's answer to it. */
static void hears(struct hp3_agree what, enum hp3_agree_kind kind)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_acts acts = {.n = 0};

	what.kind = (uint8_t)kind;
	hp3_agree_received(rig.e, &ends, &what, rig.now, &acts);
}

/* Set up, asked, and agreed on before anything has left: the question. */
static struct hp3_agree agreed(void)
{
	struct hp3_agree ask;

	configure();
	set_up_at(&q, psn);
	ask = said();
	hears(ask, HP3_AGREE_YES);
	return ask;
}

/* One packet leaves, by the port in use or sprayed. */
static bool leaves_sprayed(uint8_t opcode, uint32_t dma_len, uint16_t base)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = opcode,
		.psn = psn++,
		.dma_len = dma_len,
		.payload = payload,
		.payload_len = opcode == HP3_OP_RC_READ_REQUEST ? 0 : PMTU};

	assert_int_equal(request(&q, &f), HP3_PASS);
	if (rig.vd.sport == q.home)
		return false;
	assert_in_range(rig.vd.sport, base, base + 7);
	return true;
}

/* All leave as they came. */
static void emit(uint8_t opcode, uint32_t dma_len)
{
	static const uint8_t payload[PMTU];
	const struct hp3_fields f = {.opcode = opcode,
		.psn = psn++,
		.dma_len = dma_len,
		.payload = payload,
		.payload_len = opcode == HP3_OP_RC_READ_REQUEST ? 0 : PMTU};

	assert_int_equal(request(&q, &f), HP3_PASS);
	assert_int_equal(rig.vd.sport, q.home);
}

static void a_large_write_does(void **state_)
{
	ready();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE - 1);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
	emit(HP3_OP_RC_WRITE_LAST, 0);
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_ASKING);
}

/* A queue pair ends with packets in flight, and nobody says so: the agreement ends by time. */
static void a_queue_pair_that_is_gone_keeps_no_agreement(void **state_)
{
	struct hp3_agree a = agreed();
	uint32_t words;

	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, 64 * LARGE, a.port));
	for (uint32_t i = 0; i < 99; i++) {
		pass_time(MS - 1);
		hears(said(), HP3_AGREE_YES);
		assert_int_not_equal(state(), HP3_SPRAY_SINGLE);
	}
	for (uint32_t i = 0; i < 3; i++) {
		pass_time(MS - 1);
		hears(said(), HP3_AGREE_YES);
	}
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
	assert_int_equal(said().kind, HP3_AGREE_OVER);
	words = rig.acts[HP3_ACT_AGREE];
	pass_time(100 * MS);
	assert_int_equal(rig.acts[HP3_ACT_AGREE], words);
}

/* Its length is on no packet of it. */
static void a_send_does_not(void **state_)
{
	ready();
	emit(HP3_OP_RC_SEND_FIRST, 0);
	for (uint32_t i = 0; i < LONG; i++)
		emit(HP3_OP_RC_SEND_MIDDLE, 0);
	emit(HP3_OP_RC_SEND_LAST, 0);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* What is large about a READ comes from the other side. */
static void a_read_does_not(void **state_)
{
	ready();
	emit(HP3_OP_RC_READ_REQUEST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* Nobody has offered to resequence them, whatever there is about requests. */
static void responses_take_one_path(void **state_)
{
	static const uint8_t payload[PMTU];

	ready();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE); /* its requests are to be sprayed */
	for (uint32_t i = 0; i < LONG; i++) {
		const struct hp3_fields f = {
			.opcode = i == 0 ? HP3_OP_RC_READ_RESP_FIRST : HP3_OP_RC_READ_RESP_MIDDLE,
			.psn = 500 + i,
			.syndrome = 0x1f,
			.payload = payload,
			.payload_len = PMTU};

		assert_int_equal(request(&q, &f), HP3_PASS);
		assert_int_equal(rig.vd.sport, q.home);
	}
}

/* Asked at set-up, answered before anything leaves: the first message takes all EVs. */
static void the_first_message_is_sprayed(void **state_)
{
	struct hp3_agree ask;

	configure();
	set_up_at(&q, psn);
	assert_int_equal(state(), HP3_SPRAY_ASKING);
	ask = said();
	assert_int_equal(ask.kind, HP3_AGREE_ASK);
	assert_int_equal(ask.next, 100);
	assert_int_equal(ask.pmtu_log2, 0); /* not known yet */
	hears(ask, HP3_AGREE_YES);
	assert_int_equal(said().kind, HP3_AGREE_SPRAYING); /* at once */
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
	for (uint32_t i = 0; i < LONG; i++)
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port));
}

/* What has left before the answer may come before the question: another one is asked. */
static void a_question_is_void_once_something_has_left(void **state_)
{
	struct hp3_agree ask, again;

	configure();
	set_up_at(&q, psn);
	ask = said();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	again = said();
	assert_int_equal(again.kind, HP3_AGREE_ASK);
	assert_int_equal(again.next, HP3_NO_PSN);
	assert_true((int32_t)(again.number - ask.number) > 0);
	hears(ask, HP3_AGREE_YES);
	assert_int_equal(state(), HP3_SPRAY_ASKING);
	emit(HP3_OP_RC_WRITE_MIDDLE, 0);
	hears(again, HP3_AGREE_YES);
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, again.port));
}

/* The RNIC begins with another PSN than the set-up said. */
static void another_beginning_is_not_sprayed(void **state_)
{
	agreed();
	assert_int_equal(state(), HP3_SPRAY_SPRAYING);
	psn += 7;
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_ENDING);
}

/* Small messages of a queue pair that may be sprayed take one path, and so does a READ; it ends
 * spraying while the peer does not know how many PSNs it takes. */
static void what_is_small_takes_one_path(void **state_)
{
	struct hp3_agree ask = agreed();

	emit(HP3_OP_RC_WRITE_ONLY, PMTU);
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
	assert_int_equal(state(), HP3_SPRAY_SPRAYING);
	hears(said(), HP3_AGREE_YES); /* with the path MTU, from now on */
	emit(HP3_OP_RC_READ_REQUEST, PMTU);
	assert_int_equal(state(), HP3_SPRAY_SPRAYING);
}

static void a_read_of_unknown_size_ends_it(void **state_)
{
	agreed();
	emit(HP3_OP_RC_READ_REQUEST, 2 * PMTU);
	assert_int_equal(state(), HP3_SPRAY_ENDING);
}

/* No packet of a SEND bears its length: it is large once so much has left. */
static void a_send_is_once_it_is_large(void **state_)
{
	struct hp3_agree ask = agreed();

	emit(HP3_OP_RC_SEND_FIRST, 0);
	for (uint32_t i = 2; i < LARGE / PMTU; i++)
		emit(HP3_OP_RC_SEND_MIDDLE, 0);
	assert_true(leaves_sprayed(HP3_OP_RC_SEND_MIDDLE, 0, ask.port));
	assert_true(leaves_sprayed(HP3_OP_RC_SEND_LAST, 0, ask.port));
	emit(HP3_OP_RC_SEND_FIRST, 0);
}

static void takes_all_evs(uint16_t first)
{
	for (uint32_t i = 0; i < LONG; i++)
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, first));
}

/* All queue pairs between two hosts take the same EVs, and learn from each other. */
static void the_next_one_knows_slow_evs(void **state_)
{
	struct hp3_agree ask, next;

	configure();
	rig.cfg.spray.rest_ns = 10000 * MS;
	rig_configure();
	set_up_at(&q, psn);
	ask = said();
	hears(ask, HP3_AGREE_YES);
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
	takes_all_evs(ask.port);
	ask.slow = 0x7f;
	hears(ask, HP3_AGREE_SLOW);
	tear_down(&q);
	q = make_qp(1);
	set_up_at(&q, psn);
	next = said();
	assert_int_equal(next.port, ask.port);
	hears(next, HP3_AGREE_YES);
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
	for (uint32_t i = 0; i < LONG; i++) {
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port));
		assert_int_equal(rig.vd.sport, ask.port + 7);
	}
}

/* EVs may be compared (test_engine_compared.c). */
static void compared(uint8_t mode)
{
	configure();
	rig.cfg.spray.mode = mode;
	rig.cfg.probing = true;
	rig.cfg.probes = HP3_PROBES_PEER;
	rig.cfg.candidates = 3;
	rig.cfg.round = (struct hp3_round_params){
		.timeout_ns = MS, .probes_per_second = 100000, .probe_burst = 64};
	rig_configure();
	q = make_qp(0);
}

/* ... and are: the first packet asks, and takes one path. */
static void answered(void)
{
	struct hp3_acts acts;

	if (rig.cfg.spray.mode != HP3_SPRAY_AUTO)
		return;
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	pass_time(1);
	assert_int_equal(rig.nprobes, 8);
	for (uint32_t i = 0; i < rig.nprobes; i++)
		hp3_probe_reply(rig.e, rig.probe_ids[i], false, rig.now, &acts);
	pass_time(1);
}

/* Marked EVs are left out for a while, half of all at most, in mode auto, too. */
static void marked_evs_are_left_out(void **state_)
{
	struct hp3_agree ask;

	compared(HP3_SPRAY_AUTO);
	set_up_at(&q, psn);
	ask = said();
	hears(ask, HP3_AGREE_YES);
	answered();
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
	for (uint32_t k = 0; k < 4; k++) {
		ask.slow = 0xff;
		hears(ask, HP3_AGREE_MARKED);
		for (uint32_t i = 0; i < LONG; i++) {
			assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port));
			assert_true(rig.vd.sport >= ask.port + 4);
		}
		hears(said(), HP3_AGREE_YES);
		pass_time(MS);
	}
	assert_int_equal(state(), HP3_SPRAY_SPRAYING);
}

/* Mode auto: one path, for a while, where most EVs hold the others up. */
static void auto_leaves_it_where_paths_differ(void **state_)
{
	for (int mode = HP3_SPRAY_ALL; mode <= HP3_SPRAY_AUTO; mode++) {
		struct hp3_agree ask;

		compared((uint8_t)mode);
		set_up_at(&q, psn);
		ask = said();
		hears(ask, HP3_AGREE_YES);
		answered();
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port));
		takes_all_evs(ask.port);
		ask.slow = 0x1f;
		hears(ask, HP3_AGREE_SLOW); /* once is a queue */
		assert_int_equal(state(), HP3_SPRAY_SPRAYING);
		takes_all_evs(ask.port);
		pass_time(2 * MS);
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port));
		hears(ask, HP3_AGREE_SLOW); /* they were silent: no packet took them */
		assert_int_equal(state(), HP3_SPRAY_SPRAYING);
		takes_all_evs(ask.port);
		ask.slow = 0x0f;
		hears(ask, HP3_AGREE_SLOW); /* half of the EVs again */
		assert_int_equal(state(), HP3_SPRAY_SPRAYING);
		ask.slow = 0x10;
		hears(ask, HP3_AGREE_SLOW);
		assert_int_equal(
			state(), mode == HP3_SPRAY_AUTO ? HP3_SPRAY_ENDING : HP3_SPRAY_SPRAYING);
	}
}

/* What left on the strength of an old answer has to arrive while the peer is still bound. */
static void an_old_answer_is_not_trusted(void **state_)
{
	for (unsigned i = 0; i < 2; i++) {
		struct hp3_agree ask;

		configure();
		set_up_at(&q, psn);
		ask = said();
		rig.now += 7 * MS - 1 - US * !i;
		hears(ask, HP3_AGREE_YES);
		assert_int_equal(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port), !i);
	}
}

/* No may follow yes, to the same message; yes does not follow no. */
static void no_may_follow_yes(void **state_)
{
	struct hp3_agree ask = agreed();

	assert_int_equal(state(), HP3_SPRAY_SPRAYING);
	hears(ask, HP3_AGREE_NO);
	assert_int_equal(state(), HP3_SPRAY_ENDING);
	hears(ask, HP3_AGREE_YES);
	assert_int_equal(state(), HP3_SPRAY_ENDING);
}

/* Packets of another life of the queue pair have told the receiver what is expected. */
static void who_expects_what_was_never_sent_is_asked_anew(void **state_)
{
	const uint32_t far[] = {1u << 22, (uint32_t) - (1 << 22), 2};
	struct hp3_agree ask;

	for (unsigned i = 0; i < 3; i++) {
		ready();
		emit(HP3_OP_RC_WRITE_FIRST, LARGE);
		assert_int_equal(state(), HP3_SPRAY_ASKING);
		ask = said();
		ask.next = hp3_psn_add(psn, far[i]);
		hears(ask, HP3_AGREE_YES);
		assert_int_equal(state(), HP3_SPRAY_ASKING);
		pass_time(MS);
		assert_int_not_equal(said().number, ask.number);
		ask = said();
		ask.next = psn;
		hears(ask, HP3_AGREE_YES);
		assert_int_equal(state(), HP3_SPRAY_SPRAYING);
	}
	ask = said();
	ask.next = hp3_psn_add(psn, 1u << 22);
	hears(ask, HP3_AGREE_YES);
	assert_int_equal(state(), HP3_SPRAY_ENDING);
}

/* ... no more often than any peer is asked, whatever it answers. */
static void wrong_answers_draw_no_more_questions(void **state_)
{
	uint32_t before;

	ready();
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	said();
	before = rig.acts[HP3_ACT_AGREE];
	for (uint32_t i = 0; i < 500; i++) {
		struct hp3_agree ask = rig.other.agree.what;

		ask.next = hp3_psn_add(psn, 1u << 22);
		hears(ask, HP3_AGREE_YES);
		pass_time(10 * US);
	}
	assert_int_equal(state(), HP3_SPRAY_ASKING);
	assert_in_range(rig.acts[HP3_ACT_AGREE] - before, 4, 5); /* in 5 keep-alive intervals */
}

/* The peer has no room for what set-up asks: a large message may ask again. */
static void a_refusal_at_setup_is_not_final(void **state_)
{
	struct hp3_agree ask;

	configure();
	set_up_at(&q, psn);
	hears(said(), HP3_AGREE_NO);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
	emit(HP3_OP_RC_WRITE_FIRST, LARGE); /* tells the path MTU */
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_ASKING);
	ask = said();
	assert_int_equal(ask.next, HP3_NO_PSN);
	hears(ask, HP3_AGREE_NO);
	emit(HP3_OP_RC_WRITE_FIRST, LARGE);
	assert_int_equal(state(), HP3_SPRAY_SINGLE); /* that one is */
}

/* Half of the room is for those whose messages are known to be large, at either end. */
static void setup_takes_half_of_the_room(void **state_)
{
	struct hp3_agree ask = {.kind = HP3_AGREE_ASK,
		.evs = 8,
		.port = 0xd000,
		.requester = 0x2000,
		.turn = 1,
		.next = 7,
		.keepalive_us = 1000};
	struct hp3_acts acts;

	configure();
	for (uint32_t i = 0; i < 4; i++) {
		q = make_qp(i);
		set_up_at(&q, psn);
		assert_int_equal(state(), i < 2 ? HP3_SPRAY_ASKING : HP3_SPRAY_SINGLE);
	}
	for (uint32_t i = 0; i < 4; i++) {
		const struct hp3_ends ends = {.local = q.local, .remote = q.remote};

		ask.number = i + 1;
		ask.responder = 0x9000 + i;
		ask.requester = 0x2000 + i;
		acts.n = 0;
		hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
		assert_int_equal(acts.act[0].agree.what.kind, i < 2 ? HP3_AGREE_YES : HP3_AGREE_NO);
	}
	ask.number++;
	ask.next = HP3_NO_PSN;
	acts.n = 0;
	hp3_agree_received(rig.e, HP3_ENDS(&q), &ask, rig.now, &acts);
	assert_int_equal(acts.n, 0); /* a packet is to tell */
}

static void who_is_told_not_to_asks_nothing_at_setup(void **state_)
{
	configure();
	rig.cfg.spray.setup = false;
	rig_configure();
	set_up_at(&q, psn);
	assert_int_equal(state(), HP3_SPRAY_SINGLE);
}

/* What was sent again may still travel by the port in use: the first new packet stays behind it. */
static void a_new_packet_stays_behind_what_was_sent_again(void **state_)
{
	struct hp3_agree ask = agreed();
	uint16_t base = ask.port;

	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, base));
	emit(HP3_OP_RC_READ_REQUEST, 256);
	psn--;
	emit(HP3_OP_RC_READ_REQUEST, 256);
	ack(&q, psn - 1);
	hears(said(), HP3_AGREE_YES);
	assert_false(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, base));
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, base));
}

/* So many packets leave sprayed, and the RNIC goes back to the one behind `good`. */
static void goes_back(uint16_t base, uint32_t good, uint32_t n)
{
	assert_true(leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, base));
	for (uint32_t i = 1; i < n; i++)
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, base));
	rig.nwire = 0; /* there is room for some */
	psn -= n - good;
	for (uint32_t i = good; i < n; i++)
		emit(HP3_OP_RC_WRITE_MIDDLE, 0);
	ack(&q, psn - 1);
	rig.nwire = 0;
}

/* Four times in a row it goes back soon, however many packets were in flight behind the one. */
static void who_loses_much_takes_one_path(void **state_)
{
	struct hp3_agree ask = agreed();
	const uint64_t *given_up = &hp3_engine_stats(rig.e)->sprays_given_up;
	for (uint32_t i = 0; i < 7; i++) {
		assert_int_equal(*given_up, 0);
		/* One in a while is no ground: those before it are forgotten. */
		goes_back(ask.port, i == 2 ? 200 : 10, 300);
		if (i == 6)
			break;
		hears(said(), HP3_AGREE_YES);
		emit(HP3_OP_RC_WRITE_ONLY, PMTU);
		ack(&q, psn - 1);
	}
	assert_int_equal(*given_up, 1);
}

/* The peer lacks this PSN: the port by which it left, says hp3d; 0: it does not know. */
static uint16_t left_by(struct hp3_agree ask, uint32_t missing)
{
	const struct hp3_ends ends = {.local = q.local, .remote = q.remote};
	struct hp3_acts acts = {.n = 0};

	ask.kind = HP3_AGREE_MISSING;
	ask.next = missing;
	hp3_agree_received(rig.e, &ends, &ask, rig.now, &acts);
	assert_int_equal(acts.n, 1);
	assert_int_equal(acts.act[0].agree.what.kind, HP3_AGREE_LEFT);
	assert_int_equal(acts.act[0].agree.what.next, missing);
	assert_int_equal(acts.act[0].agree.what.number, ask.number);
	return acts.act[0].agree.what.in_use;
}

/* ... sprayed or by the port in use, until it is sent again. */
static void the_peer_is_told_by_which_port_a_packet_left(void **state_)
{
	struct hp3_agree ask = agreed();
	uint32_t first = psn;
	uint16_t port[LONG];

	for (uint32_t i = 0; i < LONG; i++) {
		leaves_sprayed(i == 0 ? HP3_OP_RC_WRITE_FIRST : HP3_OP_RC_WRITE_MIDDLE,
			i == 0 ? LARGE : 0, ask.port);
		port[i] = rig.vd.sport;
	}
	emit(HP3_OP_RC_SEND_ONLY, 0);
	for (uint32_t i = 0; i < LONG; i++)
		assert_int_equal(left_by(ask, first + i), port[i]);
	assert_int_equal(left_by(ask, first + LONG), q.home);
	assert_int_equal(left_by(ask, psn), 0); /* it has not left yet */
	psn = first + 5;
	emit(HP3_OP_RC_WRITE_MIDDLE, 0);
	assert_int_equal(left_by(ask, first + 5), 0);
	assert_int_equal(left_by(ask, first + 6), port[6]);
}

/* An EV by which a packet was lost is left out for a while. */
static void an_ev_that_loses_is_left_out(void **state_)
{
	struct hp3_agree ask = agreed();
	const struct hp3_stats *s = hp3_engine_stats(rig.e);
	uint32_t first = psn;
	uint16_t port;

	leaves_sprayed(HP3_OP_RC_WRITE_FIRST, LARGE, ask.port);
	for (uint32_t i = 1; i < LONG; i++)
		leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port);
	port = left_by(ask, first + 9);
	assert_int_equal(s->sprayed_lost, 0);
	psn = first + 9;
	rig.nwire = 0;
	for (uint32_t i = 9; i < LONG; i++)
		emit(HP3_OP_RC_WRITE_MIDDLE, 0);
	assert_int_equal(s->sprayed_lost, 1);
	ack(&q, psn - 1);
	hears(said(), HP3_AGREE_YES);
	emit(HP3_OP_RC_WRITE_MIDDLE, 0); /* behind what was sent again */
	ack(&q, psn - 1);
	for (uint32_t i = 0; i < LONG; i++) {
		assert_true(leaves_sprayed(HP3_OP_RC_WRITE_MIDDLE, 0, ask.port));
		assert_int_not_equal(rig.vd.sport, port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(the_first_message_is_sprayed),
		RIG_TEST(a_question_is_void_once_something_has_left),
		RIG_TEST(another_beginning_is_not_sprayed),
		RIG_TEST(what_is_small_takes_one_path),
		RIG_TEST(a_read_of_unknown_size_ends_it),
		RIG_TEST(a_send_is_once_it_is_large),
		RIG_TEST(the_next_one_knows_slow_evs),
		RIG_TEST(marked_evs_are_left_out),
		RIG_TEST(auto_leaves_it_where_paths_differ),
		RIG_TEST(an_old_answer_is_not_trusted),
		RIG_TEST(no_may_follow_yes),
		RIG_TEST(who_expects_what_was_never_sent_is_asked_anew),
		RIG_TEST(wrong_answers_draw_no_more_questions),
		RIG_TEST(a_refusal_at_setup_is_not_final),
		RIG_TEST(setup_takes_half_of_the_room),
		RIG_TEST(who_is_told_not_to_asks_nothing_at_setup),
		RIG_TEST(a_large_write_does),
		RIG_TEST(a_queue_pair_that_is_gone_keeps_no_agreement),
		RIG_TEST(a_send_does_not),
		RIG_TEST(a_read_does_not),
		RIG_TEST(responses_take_one_path),
		RIG_TEST(a_new_packet_stays_behind_what_was_sent_again),
		RIG_TEST(who_loses_much_takes_one_path),
		RIG_TEST(the_peer_is_told_by_which_port_a_packet_left),
		RIG_TEST(an_ev_that_loses_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
