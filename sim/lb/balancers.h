/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_BALANCERS_H
#define HP3_SIM_LB_BALANCERS_H
/* The balancers that there are, one file each. */
#include "sim/lb/lb.h"

extern const struct sim_lb sim_lb_conga;
extern const struct sim_lb sim_lb_conweave;
extern const struct sim_lb sim_lb_ecmp;
extern const struct sim_lb sim_lb_letflow;

#endif
