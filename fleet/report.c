/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/message.h"

uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop)
{
	for (uint8_t i = 0; i < r->n_hops; i++)
		if (hp3_fleet_addr_cmp(&r->hop[i], hop) == 0)
			return i;
	if (r->n_hops == HP3_FLEET_HOPS)
		return HP3_FLEET_NO_HOP;
	r->hop[r->n_hops] = *hop;
	return r->n_hops++;
}

bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop)
{
	for (uint8_t i = 0; i < f->n_alts; i++)
		if (f->alt[i].hop == hop)
			return false;
	return hop != HP3_FLEET_NO_HOP && hop != f->hop;
}
