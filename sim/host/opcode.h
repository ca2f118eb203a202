/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The BTH opcode (IBTA 9.2.1) that a data packet would have on a real network. */
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

/* Payload bytes of a data packet; 0 for an ACK solicitation, which is a zero-length WRITE. */
static inline uint16_t sim_data_payload(const struct sim *s, const struct sim_packet *p)
{
	return p->arg_psn == 0 ? 0 : (uint16_t)(p->bytes - s->cfg.rnic.header_bytes);
}
