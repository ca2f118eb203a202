/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/members.h"
#include <rte_mbuf.h>
#include "app/hp3d/lcores/internal.h"
#include "app/hp3d/pipe/bond.h"

static uint8_t down[HP3_CONFIG_RAILS_MAX][2];

void hp3d_members_set_link(unsigned rail, enum hp3_dir dir, bool up)
{
	__atomic_store_n(&down[rail][dir], !up, __ATOMIC_RELEASE);
}

/* Packets of direction `dir` leave by the port where packets of the other direction arrive. */
static bool is_down(unsigned rail, enum hp3_dir dir)
{
	return __atomic_load_n(&down[rail][!dir], __ATOMIC_RELAXED) != 0;
}

unsigned hp3d_members_way(unsigned rail, enum hp3_dir dir)
{
	unsigned member = rail;

	while (unlikely(is_down(member, dir))) {
		member = hp3d_rail_ports(member)->next;
		if (member == rail)
			break; /* no member has a link */
	}
	return member;
}

uint32_t hp3d_members_rescue(struct hp3d_worker *w, unsigned rail, enum hp3_dir dir)
{
	unsigned way = hp3d_members_way(rail, dir);

	if (likely(way == rail))
		return 0;
	return hp3d_link_pass_on(&w->out[hp3d_tag(rail, dir)], &w->out[hp3d_tag(way, dir)]);
}

static void send_run(
	const struct hp3d_members_out *o, uint16_t port, struct rte_mbuf **m, uint16_t n)
{
	unsigned rail = port & (uint16_t)~HP3D_BOND_FIXED, way = rail;

	if ((port & HP3D_BOND_FIXED) == 0) {
		way = hp3d_members_way(rail, o->dir);
		if (unlikely(way != rail)) /* older packets first */
			hp3d_members_rescue(o->worker, rail, o->dir);
	}
	hp3d_link_send(&o->worker->out[hp3d_tag(way, o->dir)], m, n);
}

void hp3d_members_send(void *out, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t i = 0, run = 0; i < n; i += run) {
		for (run = 1; i + run < n && m[i + run]->port == m[i]->port; run++)
			;
		send_run(out, m[i]->port, m + i, run);
	}
}
