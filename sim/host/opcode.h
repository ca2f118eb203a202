/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_OPCODE_H
#define HP3_SIM_HOST_OPCODE_H
/* What a packet of data would be on a real wire: its BTH opcode (IBTA 9.2.1), its payload. */
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

/* Bytes of its payload: none of a message of none, with which hp3 solicits an ACK. */
static inline uint16_t sim_data_payload(const struct sim *s, const struct sim_packet *p)
{
	return p->arg_psn == 0 ? 0 : (uint16_t)(p->bytes - s->cfg.rnic.header_bytes);
}

#endif
