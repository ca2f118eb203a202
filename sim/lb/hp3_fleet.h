/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_FLEET_H
#define HP3_SIM_LB_HP3_FLEET_H
/*
 * hp3-fleet beside hp3, with the cores that ship (fleet/): each host reports its heaviest flows
 * every fleet.interval_us, one planner makes a map and a plan of the reports that have come, hosts
 * make of it what hp3-fleet agent does, and their engines ask the ports that are advised
 * (hp3_advise()). Messages take fleet.delay_us, or are lost; they take no room on links.
 *
 * Hosts know which spine each port leads by, as complete traces would say. The cores count in
 * microseconds here what they call milliseconds: a simulation is as long as an interval in earnest.
 */
#include "sim/lb/hp3.h"

/* 0; the caller has seen to it that fleet.interval_us > 0. */
int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b);
void hp3_sim_fleet_stop(struct hp3_balancer *b);

/* What became of advice: an event of the flow's engine with the cause ADVICE. */
void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

#endif
