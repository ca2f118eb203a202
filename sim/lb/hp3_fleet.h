/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_FLEET_H
#define HP3_SIM_LB_HP3_FLEET_H
/*
 * hp3-fleet together with hp3, with the shipped code (fleet/). Each host reports its heaviest flows
 * every fleet.interval_us. One planner makes a map and a plan from the reports. Hosts act on the
 * plan as hp3-fleet agent does: their engines probe the advised ports (hp3_advise()). Messages take
 * fleet.delay_us, or are lost; they use no bandwidth.
 *
 * Hosts have the spine of each port, as from complete traces. Milliseconds of fleet/ are
 * microseconds here: a simulation is as short as one real interval.
 */
#include "sim/lb/hp3.h"

/* Returns 0; fleet.interval_us must be > 0. */
int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b);
void hp3_sim_fleet_stop(struct hp3_balancer *b);

/* The outcome of advice: an event of the flow's engine with the cause ADVICE. */
void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

#endif
