/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_CHOOSE_H
#define HP3_FLEET_CHOOSE_H
/* For the planner: the load of links, and the best flow to move away from a link (choose.c). */
#include "fleet/state.h"

struct hp3_fleet_choice {
	uint32_t placed;
	unsigned alt;
	uint32_t up, down; /* links of the new path; HP3_FLEET_NONE: no flow uses this link yet */
	uint64_t after; /* load of the fuller of the two, with the flow */
	uint64_t worst; /* maximum of `after` and the load of the old link without the flow */
};

const struct hp3_fleet_flow *hp3_fleet_flow_of(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at);
/* Load of a link; 0 for HP3_FLEET_NONE. */
uint64_t hp3_fleet_load(const struct hp3_fleet *f, uint32_t link);
/* A plan that is still valid uses the link. */
bool hp3_fleet_is_busy(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);
bool hp3_fleet_is_hot(const struct hp3_fleet *f, uint32_t link);
/* `placed` is HP3_FLEET_NONE if no flow can leave the link. */
struct hp3_fleet_choice hp3_fleet_choose(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);

#endif
