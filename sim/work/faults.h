/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_FAULTS_H
#define HP3_SIM_WORK_FAULTS_H
/*
 * What goes wrong in the fabric, on links between switches drawn at random, the same for every
 * balancer of a seed. down: at at_us for for_us (packets on it are lost); flap: down and up in
 * turn, from at_us on, eight times; loss: silent, by chance; black-hole: silent, some flows by
 * hash, one direction; degrade: from the start a link has this share of its rate. Routing learns of
 * a link's state converge_us later, all switches at once.
 */
#include "sim/core/sim.h"

/* Between sim_create() and sim_run(). 0 or negative errno with a message. */
int sim_faults(struct sim *s, char *err, uint32_t err_size);
void sim_faults_free(struct sim_faults *f);

#endif
