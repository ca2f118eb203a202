/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replies as frames with an ICRC, right or wrong. Long ones that are sound stay headers that are
 * trusted: to sum them up takes longer than all else here.
 */
#include "roce/build.h"
#include "world_internal.h"
#include <string.h>

#define PSN_AT   9u /* behind the start of the BTH */
#define RESV8A   4u /* FECN, BECN: not of the ICRC */
#define PSN_NEAR 256u

static uint32_t build(struct world *w, const struct event *event, uint8_t *frame)
{
	static const uint8_t zeros[MAX_PMTU];
	const struct hp3_ends ends = world_ends(w, event->qp);
	const struct hp3_view *v = &event->view;
	struct hp3_addressing a = {.ipv6 = ends.ipv6, .ttl = 64, .sport = v->sport, .pkey = 0xffff};
	const struct hp3_fields f = {.opcode = v->opcode,
		.becn = v->flags & HP3_VF_BECN,
		.dest_qpn = v->dest_qpn,
		.psn = v->psn,
		.syndrome = v->syndrome,
		.msn = v->msn,
		.payload = zeros,
		.payload_len = v->payload_len};
	int len;

	hp3_tags_make(ends.vlan, 0, a.tag);
	memcpy(a.src_ip, ends.remote, ends.ipv6 ? 16 : 4);
	memcpy(a.dst_ip, ends.local, ends.ipv6 ? 16 : 4);
	len = hp3_build(frame, sizeof(w->frame[0]), &a, &f);
	if (len < 0) {
		VIOLATION(w, "test bug: no such reply");
		return 0;
	}
	return (uint32_t)len;
}

/* A bit of BTH, AETH, payload or ICRC; or the PSN becomes another one of the window. */
static void damage(struct world *w, uint8_t *bth, uint32_t len)
{
	uint32_t psn = hp3_be24(bth + PSN_AT), at = rnd(w, len);

	if (rnd(w, 2) == 0 && at != RESV8A) {
		bth[at] ^= (uint8_t)(1u << rnd(w, 8));
		return;
	}
	psn = hp3_psn_add(psn, rnd(w, 2) ? 1 + rnd(w, PSN_NEAR) : HP3_PSN_MASK - rnd(w, PSN_NEAR));
	hp3_put_be24(bth + PSN_AT, psn);
}

void world_frame(struct world *w, struct burst *b, uint32_t i)
{
	struct hp3_pkt *pkt = &b->pkt[i];
	uint32_t len, bth;

	if (b->event[i].view.payload_len != 0 && !b->damaged[i])
		return;
	len = build(w, &b->event[i], w->frame[i]);
	hp3_parse(w->frame[i], len, &pkt->v);
	bth = pkt->v.udp_off + 8u;
	if (b->damaged[i])
		damage(w, w->frame[i] + bth, len - bth);
	pkt->frame = w->frame[i];
	pkt->len = len;
	pkt->trusted = false;
	hp3_parse(w->frame[i], len, &pkt->v);
}
