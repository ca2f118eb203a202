/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of flows of a capture (app/hp3d/replay/flows.h): pairs, copies, order, reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/replay/flows.h"
#include "roce/build.h"
#include "roce/opcode.h"

#define QPN_A   0x11u /* of the sender of requests */
#define QPN_B   0x22u
#define GAP_NS  2000u
#define PSN     1000u
#define PAYLOAD 64u

struct talk {
	struct hp3d_replay_flows *flows;
	uint64_t now;
	struct hp3d_replay_frame last;
};

static int begin(void **state)
{
	struct talk *t = calloc(1, sizeof(*t));

	t->flows = hp3d_replay_flows_new();
	t->now = 1000000000;
	*state = t;
	return t->flows == NULL;
}

static int finish(void **state)
{
	struct talk *t = *state;

	hp3d_replay_flows_free(t->flows);
	free(t);
	return 0;
}

static struct hp3_addressing addressing(bool reply)
{
	struct hp3_addressing a = {.src_ip = {10, 9, 0, 1},
		.dst_ip = {10, 9, 0, 2},
		.ttl = 64,
		.sport = 49500,
		.pkey = 0xffff};

	a.src_ip[3] = reply ? 2 : 1;
	a.dst_ip[3] = reply ? 1 : 2;
	return a;
}

/* Adds the frame that t->last has. */
static void add_last(struct talk *t, bool icrc_wrong)
{
	hp3d_replay_flows_add(t->flows, &t->last, t->now, icrc_wrong);
	t->now += GAP_NS;
}

static void take(struct talk *t, const uint8_t *frame, int len)
{
	assert_true(len > 0);
	hp3d_replay_frame_read(frame, (uint32_t)len, HP3D_LINK_ETHERNET, &t->last);
	assert_int_not_equal(t->last.v.class, HP3_CLASS_OTHER);
}

static void add(struct talk *t, bool reply, const struct hp3_fields *fields)
{
	const struct hp3_addressing a = addressing(reply);
	uint8_t frame[512];

	take(t, frame, hp3_build(frame, sizeof(frame), &a, fields));
	add_last(t, false);
}

static void send_to(struct talk *t, uint32_t qpn, uint32_t psn)
{
	uint8_t payload[PAYLOAD] = {(uint8_t)psn};

	add(t, false,
		&(struct hp3_fields){.opcode = HP3_OP_RC_SEND_ONLY,
			.ackreq = true,
			.dest_qpn = qpn,
			.psn = psn,
			.payload = payload,
			.payload_len = PAYLOAD});
}

static void reply_to(struct talk *t, uint32_t qpn, uint32_t psn, uint8_t syndrome)
{
	const struct hp3_addressing a = addressing(true);
	uint8_t frame[512];

	take(t, frame, hp3_build_ack(frame, sizeof(frame), &a, qpn, psn, syndrome, 1));
	add_last(t, false);
}

static struct hp3d_replay_row row_of(struct talk *t, uint32_t qpn)
{
	struct hp3d_replay_row row;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(t->flows, &at, &row)) {
		if (row.key.qpn == qpn)
			return row;
	}
	fail_msg("no row of QPN 0x%x", qpn);
	return row;
}

static void replies_pair_a_stream(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;
	uint32_t at = 0;

	for (uint32_t i = 0; i < 8; i++) {
		send_to(t, QPN_B, PSN + i);
		reply_to(t, QPN_A, PSN + i, 0x1f);
	}
	hp3d_replay_flows_end(t->flows);
	assert_true(hp3d_replay_flows_next(t->flows, &at, &row));
	assert_true(row.paired);
	assert_int_equal(row.peer_qpn, QPN_A);
	assert_int_equal(row.requests, 8);
	assert_int_equal(row.replies, 8);
	assert_int_equal(row.bytes, 8 * PAYLOAD);
	assert_int_equal(row.ops, HP3D_OP_SEND);
	assert_int_equal(row.first_psn, PSN);
	assert_int_equal(row.last_psn, PSN + 7);
	/* The stream of the replies has no row of its own. */
	assert_false(hp3d_replay_flows_next(t->flows, &at, &row));
}

/* Two queue pairs have the same PSNs. One is always a packet behind the other, and their replies
 * differ in this. */
static void equal_psns_pair_by_their_progress(void **state)
{
	struct talk *t = *state;

	for (uint32_t i = 0; i < 20; i++) {
		send_to(t, QPN_B, i + 1);
		reply_to(t, QPN_A, i + 1, 0x1f);
		send_to(t, QPN_B + 1, i);
		reply_to(t, QPN_A + 1, i, 0x1f);
	}
	hp3d_replay_flows_end(t->flows);
	assert_int_equal(row_of(t, QPN_B).peer_qpn, QPN_A);
	assert_int_equal(row_of(t, QPN_B + 1).peer_qpn, QPN_A + 1);
}

static void equal_progress_is_not_paired(void **state)
{
	struct talk *t = *state;

	for (uint32_t i = 0; i < 20; i++) {
		send_to(t, QPN_B, i);
		send_to(t, QPN_B + 1, i);
		reply_to(t, QPN_A, i, 0x1f);
		reply_to(t, QPN_A + 1, i, 0x1f);
	}
	hp3d_replay_flows_end(t->flows);
	assert_false(row_of(t, QPN_B).paired);
	assert_int_equal(row_of(t, QPN_B).reason, HP3_UNPAIRED_AMBIGUOUS);
	assert_int_equal(hp3d_replay_flows_totals(t->flows).flows, 2);
}

/* The capture lacks two packets of the peer. Another queue pair has all of them. */
static void packets_that_were_not_recorded_decide_nothing(void **state)
{
	struct talk *t = *state;

	for (uint32_t i = 0; i < 200; i++) {
		if (i != 50 && i != 100)
			send_to(t, QPN_B, i);
		send_to(t, QPN_B + 1, i);
		reply_to(t, QPN_A, i, 0x1f);
	}
	hp3d_replay_flows_end(t->flows);
	assert_false(row_of(t, QPN_B + 1).paired);
	assert_int_equal(row_of(t, QPN_A).reason, HP3_UNPAIRED_MANY_REQUESTS);
}

/* Queue pair 0 has the peer's PSNs, and the peer comes behind as many as are compared. */
static void too_many_queue_pairs_are_not_paired(void **state)
{
	struct talk *t = *state;
	const uint32_t others = 64;

	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t k = 0; i == 0 && k < others; k++)
			send_to(t, QPN_B + k, 0);
		if (i > 0)
			send_to(t, QPN_B, i);
		send_to(t, QPN_B + others, i);
		reply_to(t, QPN_A, i, 0x1f);
	}
	hp3d_replay_flows_end(t->flows);
	assert_false(row_of(t, QPN_B).paired);
	assert_int_equal(row_of(t, QPN_A).reason, HP3_UNPAIRED_MANY_REQUESTS);
}

static void an_early_reply_matches_nothing(void **state)
{
	struct talk *t = *state;

	send_to(t, QPN_B, PSN);
	reply_to(t, QPN_A, PSN + 1, 0x1f);
	hp3d_replay_flows_end(t->flows);
	assert_int_equal(row_of(t, QPN_A).reason, HP3_UNPAIRED_OTHER_REQUESTS);
}

static void reasons_name_what_is_missing(void **state)
{
	struct talk *t = *state;

	send_to(t, QPN_B, PSN);
	hp3d_replay_flows_end(t->flows);
	assert_int_equal(row_of(t, QPN_B).reason, HP3_UNPAIRED_ONE_WAY);
	reply_to(t, QPN_A, PSN + 5000, 0x1f);
	hp3d_replay_flows_end(t->flows);
	assert_int_equal(row_of(t, QPN_B).reason, HP3_UNPAIRED_UNANSWERED);
	assert_int_equal(row_of(t, QPN_A).reason, HP3_UNPAIRED_NO_REQUESTS);
}

static void wrong_icrcs_are_a_reason(void **state)
{
	struct talk *t = *state;

	send_to(t, QPN_B, PSN);
	hp3d_replay_flows_free(t->flows);
	t->flows = hp3d_replay_flows_new();
	add_last(t, true);
	hp3d_replay_flows_end(t->flows);
	assert_int_equal(row_of(t, QPN_B).reason, HP3_UNPAIRED_WRONG);
}

static void connection_management_pairs(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_key key;

	send_to(t, QPN_B, PSN);
	key = row_of(t, QPN_B).key;
	hp3d_replay_flows_pair(t->flows, &key, QPN_A);
	hp3d_replay_flows_end(t->flows);
	assert_true(row_of(t, QPN_B).paired);
	assert_int_equal(row_of(t, QPN_B).peer_qpn, QPN_A);
}

static void packets_recorded_twice_are_copies(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 8; i++) {
		send_to(t, QPN_B, PSN + i);
		t->last.data[t->last.v.l3_off + 8]--; /* TTL, by a router */
		t->last.v.vlan = 100; /* and a tag, by a switch */
		add_last(t, false);
		reply_to(t, QPN_A, PSN + i, 0x1f);
		add_last(t, false);
	}
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_true(row.paired);
	assert_int_equal(row.requests, 8);
	assert_int_equal(row.copies, 8);
	assert_int_equal(row.retransmits, 0);
	hp3d_replay_flows_rewind(t->flows);
	assert_false(hp3d_replay_flows_is_copy(t->flows, &t->last, t->now));
	assert_true(hp3d_replay_flows_is_copy(t->flows, &t->last, t->now + GAP_NS));
	assert_false(hp3d_replay_flows_is_copy(
		t->flows, &t->last, t->now + 2 * GAP_NS + HP3D_REPLAY_COPY_NS));
}

static void a_few_repeated_packets_are_retransmissions(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 20; i++)
		send_to(t, QPN_B, PSN + i);
	for (uint32_t i = 15; i < 20; i++)
		send_to(t, QPN_B, PSN + i);
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.copies, 0);
	assert_int_equal(row.reordered, 0);
	assert_int_equal(row.retransmits, 5);
}

/* The RNIC sends again what the responder lacks: no copies, although it follows at once. */
static void a_nak_precedes_retransmissions(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 4; i++)
		send_to(t, QPN_B, PSN + i);
	reply_to(t, QPN_A, PSN, 0x60);
	for (uint32_t i = 0; i < 4; i++)
		send_to(t, QPN_B, PSN + i);
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.copies, 0);
	assert_int_equal(row.retransmits, 4);
	assert_int_equal(row.naks, 1);
}

static void late_packets_are_out_of_order(void **state)
{
	static const uint32_t order[] = {1, 0, 2, 4, 3, 5, 7, 8, 6, 9};
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		send_to(t, QPN_B, PSN + order[i]);
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.first_psn, PSN);
	assert_int_equal(row.reordered, 3);
	assert_int_equal(row.retransmits, 0);
}

/* PSN 4 was lost before the capture. After the NAK, it is the first one of a retransmission. */
static void a_lost_packet_is_retransmitted(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 10; i++) {
		if (i != 4)
			send_to(t, QPN_B, PSN + i);
	}
	for (uint32_t i = 4; i < 10; i++)
		send_to(t, QPN_B, PSN + i);
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.reordered, 0);
	assert_int_equal(row.retransmits, 6);
}

/* The responses to a READ have the PSNs behind that of the request. */
static void read_responses_pair(void **state)
{
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 4; i++) {
		add(t, false,
			&(struct hp3_fields){.opcode = HP3_OP_RC_READ_REQUEST,
				.dest_qpn = QPN_B,
				.psn = PSN + 4 * i,
				.dma_len = 4 * 256});
		for (uint32_t k = 0; k < 4; k++)
			add(t, true,
				&(struct hp3_fields){.opcode = k == 0 ? HP3_OP_RC_READ_RESP_FIRST
							       : k == 3
								       ? HP3_OP_RC_READ_RESP_LAST
								       : HP3_OP_RC_READ_RESP_MIDDLE,
					.dest_qpn = QPN_A,
					.psn = PSN + 4 * i + k});
	}
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.peer_qpn, QPN_A);
	assert_int_equal(row.replies, 16);
	assert_int_equal(row.reordered + row.retransmits, 0);
}

static void flush_and_atomic_write_pair(void **state)
{
	static const uint8_t opcodes[] = {HP3_OP_RC_FLUSH, HP3_OP_RC_ATOMIC_WRITE};
	struct talk *t = *state;
	struct hp3d_replay_row row;

	for (uint32_t i = 0; i < 4; i++) {
		add(t, false,
			&(struct hp3_fields){.opcode = opcodes[i % 2],
				.dest_qpn = QPN_B,
				.psn = PSN + i,
				.dma_len = 8});
		add(t, true,
			&(struct hp3_fields){.opcode = HP3_OP_RC_READ_RESP_ONLY,
				.dest_qpn = QPN_A,
				.psn = PSN + i});
	}
	hp3d_replay_flows_end(t->flows);
	row = row_of(t, QPN_B);
	assert_int_equal(row.peer_qpn, QPN_A);
	assert_int_equal(row.ops, HP3D_OP_FLUSH | HP3D_OP_ATOMIC_WRITE);
	assert_int_equal(row.reordered + row.retransmits, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, finish)
	const struct CMUnitTest tests[] = {
		TEST(replies_pair_a_stream),
		TEST(equal_psns_pair_by_their_progress),
		TEST(equal_progress_is_not_paired),
		TEST(packets_that_were_not_recorded_decide_nothing),
		TEST(too_many_queue_pairs_are_not_paired),
		TEST(an_early_reply_matches_nothing),
		TEST(reasons_name_what_is_missing),
		TEST(wrong_icrcs_are_a_reason),
		TEST(connection_management_pairs),
		TEST(packets_recorded_twice_are_copies),
		TEST(a_few_repeated_packets_are_retransmissions),
		TEST(a_nak_precedes_retransmissions),
		TEST(late_packets_are_out_of_order),
		TEST(a_lost_packet_is_retransmitted),
		TEST(read_responses_pair),
		TEST(flush_and_atomic_write_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
