/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_FLEET_H
#define HP3_SIM_LB_HP3_FLEET_H
/*
 * hp3 together with hp3-fleet: the simulator runs the shipped code of fleet/. Each host reports its
 * heaviest flows every fleet.interval_us. One planner makes a map and a plan from the reports.
 * Hosts act on the plan as hp3-fleet agent does: their engines probe the advised ports
 * (hp3_advise()). Messages arrive after fleet.delay_us, or are lost. They use no bandwidth.
 *
 * Each host knows from the start to which spine each port leads, as if all ports had been traced.
 * What fleet/ calls a millisecond is a microsecond here, since a whole simulation is as short as
 * one real interval.
 */
#include "sim/lb/hp3.h"

/* Returns 0 or -ENOMEM; fleet.interval_us must be > 0. */
int hp3_sim_fleet_start(struct sim *s, struct hp3_balancer *b);
void hp3_sim_fleet_stop(struct hp3_balancer *b);

/* Records the outcome of advice: an event of the flow's engine with the cause ADVICE. */
void hp3_sim_fleet_outcome(struct sim *s, struct sim_flow *f, const struct hp3_event *event);

#endif
