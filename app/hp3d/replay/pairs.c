/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/pairs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_known(const struct hp3d_replay_pairs *l, const struct hp3d_event *ev)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hp3d_event *p = &l->list[i];

		if (p->ev.lqpn == ev->ev.lqpn && p->ev.rqpn == ev->ev.rqpn &&
			p->flow.vlan == ev->flow.vlan &&
			memcmp(p->flow.local, ev->flow.local, 16) == 0 &&
			memcmp(p->flow.remote, ev->flow.remote, 16) == 0)
			return true;
	}
	return false;
}

int hp3d_replay_pairs_learn(struct hp3d_replay_pairs *l, const struct hp3d_event *ev)
{
	struct hp3d_event *list;

	if (is_known(l, ev))
		return 0;
	list = realloc(l->list, (l->n + 1) * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	list[l->n++] = *ev;
	l->list = list;
	return 0;
}

void hp3d_replay_pairs_announce(
	const struct hp3d_replay_pairs *l, struct hp3d_pipe *p, uint64_t now)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hp3d_event *pair = &l->list[i];
		struct hp3_qp_event ev = {.kind = HP3_QP_UP,
			.pairing = HP3_PAIRING_EVENT,
			.ipv6 = pair->flow.ipv6,
			.vlan = pair->flow.vlan,
			.lqpn = pair->ev.lqpn,
			.rqpn = pair->ev.rqpn};

		memcpy(ev.local, pair->flow.local, 16);
		memcpy(ev.remote, pair->flow.remote, 16);
		hp3d_pipe_qp(p, &ev, now);
	}
}
