/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_FAULTS_H
#define HP3_SIM_WORK_FAULTS_H
/*
 * Faults of the fabric, on random links between switches: with one seed, the same links for every
 * balancer. down: at at_us for for_us (packets on the link are lost); flap: down and up in turn,
 * from at_us on, eight times; loss: silent, random; black-hole: silent, some flows by hash, one
 * direction; degrade: from the start, the link has this share of its rate. Routing follows a link's
 * state converge_us later, in all switches at once.
 */
#include "sim/core/sim.h"

/* Between sim_create() and sim_run(). 0 or negative errno with a message. */
int sim_faults(struct sim *s, char *err, uint32_t err_size);
void sim_faults_free(struct sim_faults *f);

#endif
