/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets: MAD header IBTA 13.4.3, messages IBTA 12.6 (REQ table 98, REP table 102, DREQ table
 * 106). */
#include "probes/cm.h"
#include "roce/opcode.h"

#define BTH_DETH_LEN 20u
#define MAD_LEN      256u /* every MAD has this size */
#define MAD_HEADER   24u
#define MAD_VERSION  1u
#define MAD_CM_CLASS 7u
#define MAD_SEND     3u

enum { ATTR_REQ = 0x10, ATTR_REJ = 0x12, ATTR_REP, ATTR_RTU, ATTR_DREQ, ATTR_DREP };

void hp3_cm_parse(const void *frame, const struct hp3_view *v, struct hp3_cm_msg *m)
{
	const uint8_t *mad = (const uint8_t *)frame + v->udp_off + HP3_UDP_LEN + BTH_DETH_LEN;
	const uint8_t *msg = mad + MAD_HEADER;

	*m = (struct hp3_cm_msg){.kind = HP3_CM_NONE};
	if (v->class != HP3_CLASS_CM || v->opcode != HP3_OP_UD_SEND_ONLY ||
		v->payload_len < MAD_LEN)
		return;
	if (mad[0] != MAD_VERSION || mad[1] != MAD_CM_CLASS || mad[3] != MAD_SEND)
		return;

	switch (hp3_be16(mad + 16)) {
	case ATTR_REQ:
		m->kind = HP3_CM_REQ;
		m->qpn = hp3_be24(msg + 32);
		m->psn = hp3_be24(msg + 44);
		break;
	case ATTR_REP:
		m->kind = HP3_CM_REP;
		m->qpn = hp3_be24(msg + 12);
		m->psn = hp3_be24(msg + 20);
		break;
	case ATTR_RTU:
		m->kind = HP3_CM_RTU;
		break;
	case ATTR_REJ:
		m->kind = HP3_CM_REJ;
		break;
	case ATTR_DREQ:
		m->kind = HP3_CM_DREQ;
		m->qpn = hp3_be24(msg + 8);
		break;
	case ATTR_DREP:
		m->kind = HP3_CM_DREP;
		break;
	default:
		return;
	}
	m->local_id = hp3_be32(msg);
	m->remote_id = m->kind == HP3_CM_REQ ? 0 : hp3_be32(msg + 4);
}
