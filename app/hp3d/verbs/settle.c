/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths for new queue pairs; ports that can be probed. */
#include "app/hp3d/verbs/internal.h"

#define RETRY_NS UINT64_C(500000000)
#define TRIES    6u
#define MEET_NS  (HP3D_UD_MEET_S * 1000000000ull)

/* This is repeated, because another host may replace the peer in hp3d's tables. */
static void meet_peer(struct hp3d_verbs_mode *b, const struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now)
{
	b->pairs[k->pair].met = now;
	hp3d_ud_meet(b->ud, HP3_ENDS(&k->qp), c->traffic_class, now);
}

void hp3d_verbs_settle_in(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now)
{
	const struct hp3_ends ends = *HP3_ENDS(&k->qp);
	struct hp3_flow_info f;

	k->ports = NULL;
	k->n_ports = 0;
	k->settled = true;
	k->settle_tries = 0;
	if (b->ud == NULL)
		return;
	meet_peer(b, k, c, now);
	k->n_ports = hp3d_ud_ports(b->ud, k->qp.ipv6, k->qp.local, &k->ports, now);
	if (k->n_ports == UINT32_MAX)
		return;
	hp3_qp_ports(hp3d_pipe_engine(b->pipe), &ends, k->ports, k->n_ports);
	k->settled = k->n_ports == 0;
	k->settle_at = now;
	if (c->posted_wrs == 0 &&
		(!(c->flags & HP3_VERBS_RESPONDS) || (c->flags & HP3_VERBS_WAITS)))
		hp3d_pipe_place(b->pipe, k->flow, now);
	if (hp3_flow_info(hp3d_pipe_engine(b->pipe), k->flow, now, &f) == 0 &&
		f.state == HP3_RFR_STEADY)
		hp3d_verbs_stay(b, k->flow); /* no probe is sent */
}

static bool is_on_one(const struct hp3d_verbs_cell_state *k, uint16_t port)
{
	for (uint32_t i = 0; i < k->n_ports; i++)
		if (k->ports[i] == port)
			return true;
	return false;
}

void hp3d_verbs_settle(struct hp3d_verbs_mode *b, struct hp3d_verbs_cell_state *k,
	const struct hp3_verbs_cell *c, uint64_t now)
{
	struct hp3_cmd move = {.kind = HP3_CMD_MOVE, .cause = HP3_CAUSE_SETUP, .flow = k->flow};

	if (b->ud != NULL && now - b->pairs[k->pair].met >= MEET_NS)
		meet_peer(b, k, c, now);
	if (k->settled || now < k->settle_at || c->state != HP3_VERBS_RTS || c->posted_wrs == 0)
		return;
	k->settle_at = now + (RETRY_NS << k->settle_tries);
	k->settled =
		is_on_one(k, c->port) || c->method == HP3_VERBS_NONE || k->settle_tries == TRIES;
	/* If the peer may READ, the move needs the peer's hp3d, which may not be there. */
	k->settle_tries += (c->flags & HP3_VERBS_RESPONDS) != 0;
	if (!k->settled)
		hp3d_pipe_command(b->pipe, &move, now);
}
