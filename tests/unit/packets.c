/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "roce/wire.h"

#define FRAME_MAX 4352u
#define MAD_LEN   256u

static uint8_t frame[FRAME_MAX];
static uint8_t payload[FRAME_MAX];

static struct hp3_addressing addressing(const struct qp *q, enum hp3_dir who)
{
	struct hp3_addressing a = {.ipv6 = q->ipv6,
		.ttl = 64,
		.sport = who == HP3_DIR_TX ? q->home : 0xd00d,
		.pkey = 0xffff};

	hp3_tags_make(q->vlan, q->priority, a.tag);
	memcpy(a.src_ip, who == HP3_DIR_TX ? q->local : q->remote, 16);
	memcpy(a.dst_ip, who == HP3_DIR_TX ? q->remote : q->local, 16);
	return a;
}

static struct hp3_pkt parse(int len)
{
	struct hp3_pkt pkt = {.frame = frame, .len = (uint32_t)len, .flow = HP3_NO_FLOW};

	assert_true(len > 0);
	if (rig.damage)
		frame[len - 1] ^= 1;
	rig.damage = false;
	hp3_parse(frame, pkt.len, &pkt.v);
	rig.now += US;
	return pkt;
}

int request(const struct qp *q, const struct hp3_fields *f)
{
	struct hp3_addressing a = addressing(q, HP3_DIR_TX);
	struct hp3_fields all = *f;
	struct hp3_pkt pkt;

	all.dest_qpn = q->rqpn;
	all.payload = payload;
	pkt = parse(hp3_build(frame, sizeof(frame), &a, &all));
	return rig_transmit(&pkt);
}

int middle(const struct qp *q, uint32_t psn)
{
	return request(q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_MIDDLE,
				  .psn = psn & HP3_PSN_MASK,
				  .payload_len = PMTU});
}

int last(const struct qp *q, uint32_t psn)
{
	return request(q, &(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_LAST,
				  .psn = psn & HP3_PSN_MASK,
				  .ackreq = true,
				  .payload_len = 100});
}

int read_request(const struct qp *q, uint32_t psn, uint32_t bytes)
{
	return request(q, &(struct hp3_fields){.opcode = HP3_OP_RC_READ_REQUEST,
				  .psn = psn & HP3_PSN_MASK,
				  .dma_len = bytes});
}

void response(const struct qp *q, const struct hp3_fields *f)
{
	struct hp3_addressing a = addressing(q, HP3_DIR_RX);
	struct hp3_fields all = *f;
	struct hp3_pkt pkt;

	all.dest_qpn = q->lqpn;
	all.psn &= HP3_PSN_MASK;
	all.payload = payload;
	pkt = parse(hp3_build(frame, sizeof(frame), &a, &all));
	rig_receive(&pkt);
}

void reply(const struct qp *q, uint8_t syndrome, uint32_t psn)
{
	response(
		q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK, .syndrome = syndrome, .psn = psn});
}

void ack(const struct qp *q, uint32_t psn)
{
	reply(q, HP3_SYN_ACK | 31, psn);
}

void contradict(const struct qp *q, uint32_t psn)
{
	ack(q, psn);
	pass_time(MS / 2);
	ack(q, psn);
	pass_time(MS / 2 + MS / 10);
	ack(q, psn);
}

void nak(const struct qp *q, uint32_t psn)
{
	reply(q, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, psn);
}

void rnr(const struct qp *q, uint32_t psn)
{
	reply(q, HP3_SYN_RNR | 12, psn);
}

void read_response(const struct qp *q, uint8_t opcode, uint32_t psn, uint16_t bytes)
{
	response(q, &(struct hp3_fields){.opcode = opcode, .psn = psn, .payload_len = bytes});
}

void peer_request(const struct qp *q, uint32_t psn, bool ce)
{
	struct hp3_addressing a = addressing(q, HP3_DIR_RX);
	struct hp3_pkt pkt;

	a.tclass = ce ? 3 : 2;
	pkt = parse(hp3_build(frame, sizeof(frame), &a,
		&(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_MIDDLE,
			.dest_qpn = q->lqpn,
			.psn = psn,
			.payload = payload,
			.payload_len = PMTU}));
	rig_receive(&pkt);
}

void ack_leaves(const struct qp *q, uint32_t psn)
{
	assert_int_equal(request(q, &(struct hp3_fields){.opcode = HP3_OP_RC_ACK,
					    .syndrome = HP3_SYN_ACK | 31,
					    .psn = psn}),
		HP3_PASS);
}

void cm(enum hp3_dir who, const struct qp *q, enum hp3_cm_kind kind, uint32_t local_id,
	uint32_t remote_id, uint32_t qpn)
{
	static const struct {
		uint8_t attribute, qpn_at, psn_at;
	} places[] = {
		[HP3_CM_REQ] = {0x10, 32, 44},
		[HP3_CM_REP] = {0x13, 12, 20},
		[HP3_CM_RTU] = {0x14, 0, 0},
		[HP3_CM_DREQ] = {0x15, 8, 0},
	};
	struct hp3_addressing a = addressing(q, who);
	uint8_t mad[MAD_LEN] = {1, 7, 2, 3};
	struct hp3_pkt pkt;

	mad[17] = places[kind].attribute;
	if (places[kind].qpn_at != 0)
		hp3_put_be24(mad + 24 + places[kind].qpn_at, qpn);
	if (places[kind].psn_at != 0)
		hp3_put_be24(mad + 24 + places[kind].psn_at, rig.cm_psn);
	hp3_put_be32(mad + 24, local_id);
	if (kind != HP3_CM_REQ)
		hp3_put_be32(mad + 28, remote_id);
	pkt = parse(hp3_build(frame, sizeof(frame), &a,
		&(struct hp3_fields){.opcode = HP3_OP_UD_SEND_ONLY,
			.dest_qpn = HP3_QPN_CM,
			.src_qpn = HP3_QPN_CM,
			.payload = mad,
			.payload_len = sizeof(mad)}));
	assert_int_equal(pkt.v.class, HP3_CLASS_CM);
	if (who == HP3_DIR_TX)
		rig_transmit(&pkt);
	else
		rig_receive(&pkt);
}

void fragment_of(enum hp3_dir who, const struct qp *q, uint16_t dport, uint16_t offset)
{
	struct hp3_addressing a = addressing(q, who);
	int len = hp3_build(frame, sizeof(frame), &a,
		&(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_MIDDLE,
			.dest_qpn = q->rqpn,
			.payload = payload,
			.payload_len = 256});
	uint8_t *ip = frame + 14 + (a.tag[0].tpid ? 4 : 0) + (a.tag[1].tpid ? 4 : 0),
		*udp = ip + (q->ipv6 ? 40 : 20);
	struct hp3_pkt pkt;

	hp3_put_be16(udp + 2, dport);
	if (q->ipv6) {
		memmove(udp + 8, udp, (size_t)(frame + len - udp));
		memset(udp, 0, 8);
		udp[0] = ip[6];
		hp3_put_be16(udp + 2, offset | 1);
		ip[6] = 44; /* fragment header */
		hp3_put_be16(ip + 4, (uint16_t)(hp3_be16(ip + 4) + 8));
		len += 8;
	} else {
		hp3_put_be16(ip + 6, 0x2000 | offset / 8); /* more fragments */
	}
	pkt = parse(len);
	assert_int_equal(pkt.v.reason, HP3_PARSE_FRAGMENT);
	if (who == HP3_DIR_TX)
		rig_transmit(&pkt);
	else
		rig_receive(&pkt);
}

void fragment(enum hp3_dir who, const struct qp *q)
{
	fragment_of(who, q, HP3_ROCE_UDP_PORT, 0);
}
