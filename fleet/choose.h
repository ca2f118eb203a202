/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_CHOOSE_H
#define HP3_FLEET_CHOOSE_H
/* choose.c, for the planner: links as they are loaded, and who would best leave one. */
#include "fleet/state.h"

struct hp3_fleet_choice {
	uint32_t placed;
	unsigned alt;
	uint32_t up, down; /* links of the new path; HP3_FLEET_NONE: nobody is on them */
	uint64_t after; /* load of the fuller one, with the flow */
	uint64_t worst; /* and of the link that it leaves, without it */
};

const struct hp3_fleet_flow *hp3_fleet_flow_of(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at);
/* Of a link, or of HP3_FLEET_NONE: nothing. */
uint64_t hp3_fleet_load(const struct hp3_fleet *f, uint32_t link);
/* A plan that is not over yet touches it. */
bool hp3_fleet_is_busy(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);
bool hp3_fleet_is_hot(const struct hp3_fleet *f, uint32_t link);
/* `placed` HP3_FLEET_NONE: nobody. */
struct hp3_fleet_choice hp3_fleet_choose(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);

#endif
