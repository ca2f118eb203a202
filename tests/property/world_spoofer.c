/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An attacker in the network sends replies with the peer's address. It has the addresses and QPNs,
 * and computes correct ICRCs, but does not have the PSNs in flight: its random PSNs, some of them
 * near those in flight, are in the window of no queue pair, so the RNIC drops its replies. (With
 * the PSNs, it could do to hp3d what it can do to the RNIC, which would accept its replies.)
 */
#include "world_internal.h"

#define NEAR       70000u
#define BEHIND     600u /* PSNs that may have been in flight, and be mere claims (rule 26) */
#define RUN        6u /* to one queue pair, one after the other */
#define NOBODY     0x5000u /* local QPNs that no queue pair has */
#define ALL_PSNS   0x1000000u
#define FORGED_GEN UINT32_MAX /* of no life of a queue pair */

static const struct {
	uint8_t opcode, syndrome;
	uint16_t payload;
} kinds[] = {
	{HP3_OP_RC_ACK, HP3_SYN_ACK | 31, 0},
	{HP3_OP_RC_ACK, HP3_SYN_RNR | 12, 0},
	{HP3_OP_RC_ACK, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 0},
	{HP3_OP_RC_ACK, HP3_SYN_NAK | 2, 0},
	{HP3_OP_RC_READ_RESP_FIRST, HP3_SYN_ACK | 31, 256},
	{HP3_OP_RC_READ_RESP_MIDDLE, 0, 256},
	{HP3_OP_RC_READ_RESP_ONLY, HP3_SYN_ACK | 31, 64},
	{HP3_OP_RC_ATOMIC_ACK, HP3_SYN_ACK | 31, 0},
};

static bool is_in_flight(const struct world *w, uint32_t psn)
{
	for (uint32_t i = 0; i < w->p.qps; i++) {
		const struct qp *q = &w->qps[i];
		uint64_t lin = linear(q, psn, q->una);

		if (lin + BEHIND >= q->una && lin <= q->high + w->p.window)
			return true;
	}
	return false;
}

static uint32_t draw_psn(struct world *w, const struct qp *q)
{
	uint32_t psn, kind;

	do {
		kind = rnd(w, 3);
		if (kind == 0)
			psn = rnd(w, ALL_PSNS);
		else if (kind == 1)
			psn = wire(q, q->high + rnd(w, NEAR));
		else
			psn = (wire(q, q->una) - rnd(w, NEAR)) & HP3_PSN_MASK;
	} while (is_in_flight(w, psn));
	return psn;
}

static void forge(struct world *w, uint32_t i)
{
	const struct qp *q = &w->qps[i];
	uint32_t kind = rnd(w, sizeof(kinds) / sizeof(kinds[0]));
	struct event event = {.t = w->now,
		.kind = EVENT_REPLY,
		.qp = i,
		.gen = FORGED_GEN,
		.view = view_of(kinds[kind].opcode)};

	event.view.psn = draw_psn(w, q);
	event.view.dest_qpn = rnd(w, 8) == 0 ? NOBODY + rnd(w, 64) : q->lqpn;
	event.view.syndrome = kinds[kind].syndrome;
	event.view.payload_len = kinds[kind].payload;
	event.view.msn = rnd(w, ALL_PSNS);
	if (rnd(w, 3) == 0)
		event.view.flags |= HP3_VF_BECN;
	w->r.forged++;
	world_push(w, event);
}

void world_spoof(struct world *w)
{
	uint32_t i = rnd(w, w->p.qps);

	for (uint32_t n = 1 + rnd(w, RUN); n > 0; n--)
		forge(w, i);
	world_at(w, 1 + rnd(w, 2 * w->p.spoof_every_us) * US, EVENT_SPOOF, 0, 0);
}
