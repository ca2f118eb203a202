/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Fields of the BTH that packets would have on a real network: opcode (IBTA 9.2.1), QPN. */
#include "roce/opcode.h"
#include "sim/host/flow.h"

static inline uint8_t sim_data_opcode(const struct sim_packet *p)
{
	static const uint8_t codes[2][4] = {
		{HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_LAST,
			HP3_OP_RC_WRITE_ONLY},
		{HP3_OP_RC_READ_RESP_MIDDLE, HP3_OP_RC_READ_RESP_FIRST, HP3_OP_RC_READ_RESP_LAST,
			HP3_OP_RC_READ_RESP_ONLY},
	};
	bool first = p->flags & SIM_FIRST, last = p->flags & SIM_LAST;

	return codes[p->flow->read][first + 2 * last];
}

/*
 * The opcode of any packet with a BTH. hp3d's probes and reports are WRITE ONLYs of an unreliable
 * connection (rule 1), and a trace may ask for another opcode. 0: the packet has no BTH.
 */
static inline uint8_t sim_packet_opcode(const struct sim_packet *p)
{
	switch (p->kind) {
	case SIM_DATA:
		return sim_data_opcode(p);
	case SIM_READ:
		return HP3_OP_RC_READ_REQUEST;
	case SIM_ACK:
	case SIM_NAK:
		return HP3_OP_RC_ACK;
	case SIM_CNP:
		return HP3_OP_CNP;
	case SIM_TRACE:
		return p->arg_psn != 0 ? (uint8_t)p->arg_psn : HP3_OP_UC_WRITE_ONLY;
	case SIM_PROBE:
	case SIM_BACK_PROBE:
		return HP3_OP_UC_WRITE_ONLY;
	default:
		return 0;
	}
}

/* The QPN of the flow's requester, or of its responder. */
static inline uint32_t sim_flow_qpn(const struct sim_flow *f, bool requester)
{
	return (0x100 + 2 * f->id + requester) & 0xffffff;
}

/* Payload bytes of a data packet; 0 for an ACK solicitation, which is a zero-length WRITE. */
static inline uint16_t sim_data_payload(const struct sim *s, const struct sim_packet *p)
{
	return p->arg_psn == 0 ? 0 : (uint16_t)(p->bytes - s->cfg.rnic.header_bytes);
}
