/* SPDX-License-Identifier: BSD-3-Clause */
/* CM datagrams: fields at the places of IBTA 12.6, the exchange of a real rdma_cm connection, and
 * refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pcap.h>
#include "probes/cm.h"
#include "roce/build.h"

#define MAD 256u

/* As tshark decodes tests/data/pcap/rc_write_rdmacm.pcap. */
static const struct hp3_cm_msg captured[] = {
	{HP3_CM_REQ, 0x222cfed5, 0, 0x1d, 0xa1ab24},
	{HP3_CM_REP, 0x40667873, 0x222cfed5, 0x1d, 0x587b59},
	{HP3_CM_RTU, 0x222cfed5, 0x40667873, 0, 0},
	{HP3_CM_REQ, 0x232cfed5, 0, 0x1e, 0x34ec41},
	{HP3_CM_REP, 0x42667873, 0x232cfed5, 0x1e, 0xf3aff2},
	{HP3_CM_RTU, 0x232cfed5, 0x42667873, 0, 0},
	{HP3_CM_DREQ, 0x232cfed5, 0x42667873, 0x1e, 0},
	{HP3_CM_DREP, 0x42667873, 0x232cfed5, 0, 0},
	{HP3_CM_DREQ, 0x40667873, 0x222cfed5, 0x1d, 0},
	{HP3_CM_DREP, 0x222cfed5, 0x40667873, 0, 0},
};

static void same(const struct hp3_cm_msg *a, const struct hp3_cm_msg *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->local_id, b->local_id);
	assert_int_equal(a->remote_id, b->remote_id);
	assert_int_equal(a->qpn, b->qpn);
	assert_int_equal(a->psn, b->psn);
}

static void real_exchange(void **state)
{
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	const u_char *data;
	size_t n = 0;

	pcap_t *p = pcap_open_offline(HP3_TEST_DATA "/pcap/rc_write_rdmacm.pcap", err);
	if (!p)
		fail_msg("%s", err);
	while (pcap_next_ex(p, &h, &data) == 1) {
		struct hp3_view v;
		struct hp3_cm_msg m;
		hp3_parse(data, h->caplen, &v);
		hp3_cm_parse(data, &v, &m);
		if (v.class != HP3_CLASS_CM) {
			assert_int_equal(m.kind, HP3_CM_NONE);
			continue;
		}
		assert_in_range(n, 0, sizeof(captured) / sizeof(captured[0]) - 1);
		same(&m, &captured[n++]);
	}
	pcap_close(p);
	assert_int_equal(n, sizeof(captured) / sizeof(captured[0]));
}

static struct hp3_cm_msg parse(const uint8_t *mad, uint16_t len, uint8_t opcode, uint32_t qpn)
{
	static const struct hp3_addressing a = {.sport = 0xc000, .pkey = 0xffff, .ttl = 64};
	uint8_t frame[HP3_BUILD_MAX_HDR + MAD];
	struct hp3_view v;
	struct hp3_cm_msg m;
	int n = hp3_build(frame, sizeof(frame), &a,
		&(struct hp3_fields){
			.opcode = opcode, .dest_qpn = qpn, .payload = mad, .payload_len = len});

	assert_true(n > 0);
	hp3_parse(frame, (uint32_t)n, &v);
	hp3_cm_parse(frame, &v, &m);
	return m;
}

static void make_mad(uint8_t *mad, uint16_t attribute)
{
	for (unsigned i = 0; i < MAD; i++)
		mad[i] = (uint8_t)i;
	mad[0] = 1;
	mad[1] = 7;
	mad[2] = 2;
	mad[3] = 3;
	hp3_put_be16(mad + 16, attribute);
}

/* Byte i of the MAD is i, so that each field tells where it was read. */
static void field_places(void **state)
{
	static const struct {
		uint16_t attribute;
		struct hp3_cm_msg m;
	} cases[] = {
		{0x10, {HP3_CM_REQ, 0x18191a1b, 0, 0x38393a, 0x444546}},
		{0x11, {HP3_CM_NONE}}, /* MRA */
		{0x12, {HP3_CM_REJ, 0x18191a1b, 0x1c1d1e1f, 0, 0}},
		{0x13, {HP3_CM_REP, 0x18191a1b, 0x1c1d1e1f, 0x242526, 0x2c2d2e}},
		{0x14, {HP3_CM_RTU, 0x18191a1b, 0x1c1d1e1f, 0, 0}},
		{0x15, {HP3_CM_DREQ, 0x18191a1b, 0x1c1d1e1f, 0x202122, 0}},
		{0x16, {HP3_CM_DREP, 0x18191a1b, 0x1c1d1e1f, 0, 0}},
		{0x17, {HP3_CM_NONE}}, /* service ID resolution */
	};
	uint8_t mad[MAD];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_mad(mad, cases[i].attribute);
		struct hp3_cm_msg m = parse(mad, MAD, HP3_OP_UD_SEND_ONLY, HP3_QPN_CM);
		same(&m, &cases[i].m);
	}
}

static void refused(void **state)
{
	static const struct {
		uint8_t at, value;
	} wrong[] = {{0, 2}, {1, 4}, {3, 1}};
	uint8_t mad[MAD];

	make_mad(mad, 0x10);
	assert_int_equal(parse(mad, MAD, HP3_OP_UD_SEND_ONLY, 1).kind, HP3_CM_REQ);
	assert_int_equal(parse(mad, MAD, HP3_OP_UD_SEND_ONLY, 2).kind, HP3_CM_NONE);
	assert_int_equal(parse(mad, MAD, HP3_OP_UD_SEND_ONLY_IMM, 1).kind, HP3_CM_NONE);
	assert_int_equal(parse(mad, MAD, HP3_OP_RC_SEND_ONLY, 1).kind, HP3_CM_NONE);
	for (uint16_t len = 0; len < MAD; len++)
		assert_int_equal(parse(mad, len, HP3_OP_UD_SEND_ONLY, 1).kind, HP3_CM_NONE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		make_mad(mad, 0x10);
		mad[wrong[i].at] = wrong[i].value;
		assert_int_equal(parse(mad, MAD, HP3_OP_UD_SEND_ONLY, 1).kind, HP3_CM_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_exchange),
		cmocka_unit_test(field_places),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
