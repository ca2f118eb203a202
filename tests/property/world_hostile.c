/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local processes report queue pairs that are not theirs (rule 16). A process without an RNIC makes
 * the library's watcher report anything: any local QPN, set-up and end, any first PSN. A process
 * with an RNIC makes its own queue pairs, with the peer and the remote QPN of another one; the
 * kernel's watcher reports these correctly. For all reports, order and completeness hold, and no
 * held packet is dropped.
 */
#include "world_internal.h"
#include <string.h>

#define RUN      4u
#define NEAR     64u
#define NOBODY   0x6000u /* local QPNs of theirs */
#define ALL_PSNS 0x1000000u

/* Any, or near the next one; of queue pairs that are really made not that itself. */
static uint32_t draw_psn(struct world *w, const struct qp *q, bool made)
{
	uint32_t next = wire(q, q->nxt), psn;

	do {
		psn = rnd(w, 2) ? rnd(w, ALL_PSNS) : (next + rnd(w, NEAR)) & HP3_PSN_MASK;
	} while (made && (psn == next || psn == wire(q, RING)));
	return psn;
}

static uint32_t draw_lqpn(struct world *w)
{
	return rnd(w, 2) ? w->qps[rnd(w, w->p.qps)].lqpn : NOBODY + rnd(w, 4);
}

static void forge(struct world *w, uint32_t i)
{
	const struct qp *q = &w->qps[i];
	struct hp3_ends ends = world_ends(w, i);
	bool made = w->p.rnic_users && rnd(w, 2);
	struct hp3_qp_event event = {.kind = rnd(w, 3) ? HP3_QP_UP : HP3_QP_DOWN,
		.source = made ? HP3_QP_SOURCE_KERNEL : HP3_QP_SOURCE_LIBRARY,
		.ipv6 = ends.ipv6,
		.vlan = ends.vlan,
		.lqpn = made ? NOBODY + rnd(w, 4) : draw_lqpn(w),
		.rqpn = q->rqpn,
		.psn = draw_psn(w, q, made),
		.psn_known = made || rnd(w, 4) != 0,
		.owner = rnd(w, 3)};
	struct hp3_acts acts = {0};

	memcpy(event.local, ends.local, ends.ipv6 ? 16 : 4);
	memcpy(event.remote, ends.remote, ends.ipv6 ? 16 : 4);
	w->announcing = true; /* nothing that is held may be dropped */
	hp3_qp(w->e, &event, w->now, &acts);
	world_carry_out(w, &acts);
	w->announcing = false;
	w->r.forged++;
}

void world_forge(struct world *w)
{
	uint32_t i = rnd(w, w->p.qps);

	for (uint32_t n = 1 + rnd(w, RUN); n > 0 && w->away == WORLD_HERE; n--)
		forge(w, i);
	world_at(w, 1 + rnd(w, 2 * w->p.forge_every_us) * US, EVENT_FORGE, 0, 0);
}
