/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_HOST_OPCODE_H
#define HP3_SIM_HOST_OPCODE_H
/* The BTH opcode that a packet of data would have on a real wire (IBTA 9.2.1). */
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

#endif
