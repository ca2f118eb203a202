/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_FAULTS_H
#define HP3_SIM_WORK_FAULTS_H
/*
 * Faults of random links between switches. Runs with the same seed have the same faulty links,
 * whatever the balancer. down: the link is down from at_us for for_us; packets on it are lost.
 * flap: from at_us on, the link goes down and up eight times. loss: random packets are lost
 * silently. black-hole: all data packets of some flows, chosen by hash, are lost silently in one
 * direction. degrade: the link has only a share of its rate, from the start. Routing follows a
 * link's state after converge_us, in all switches at once.
 */
#include "sim/core/sim.h"

/* Call it between sim_create() and sim_run(). Returns 0, or a negative errno with a message. */
int sim_faults(struct sim *s, char *err, uint32_t err_size);
void sim_faults_free(struct sim_faults *f);

#endif
