/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_BALANCERS_H
#define HP3_SIM_LB_BALANCERS_H
/* All balancers. */
#include "sim/lb/lb.h"

extern const struct sim_lb sim_lb_ar;
extern const struct sim_lb sim_lb_conga;
extern const struct sim_lb sim_lb_conweave;
extern const struct sim_lb sim_lb_drill;
extern const struct sim_lb sim_lb_ecmp;
extern const struct sim_lb sim_lb_flowbender;
extern const struct sim_lb sim_lb_hermes;
extern const struct sim_lb sim_lb_hopper;
extern const struct sim_lb sim_lb_hp3;
extern const struct sim_lb sim_lb_hp3_verbs;
extern const struct sim_lb sim_lb_hp3_ideal;
extern const struct sim_lb sim_lb_hp3_paper;
extern const struct sim_lb sim_lb_letflow;
extern const struct sim_lb sim_lb_plb;
extern const struct sim_lb sim_lb_rps;
extern const struct sim_lb sim_lb_stellar_bestrtt;
extern const struct sim_lb sim_lb_stellar_dwrr;
extern const struct sim_lb sim_lb_stellar_mprdma;
extern const struct sim_lb sim_lb_stellar_obs;
extern const struct sim_lb sim_lb_stellar_rr;

#endif
