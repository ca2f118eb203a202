/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Small runs of the simulator for tests: a leaf-spine fabric, with settings given as texts. */
#include "sim/core/sim.h"

/* Makes a simulation. Settings are texts "section.key=value"; NULL ends the list. An error fails
 * the test. */
void world_make(struct sim *s, const char *const *set);
void world_flow(struct sim *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t start);
/* Runs to the end; fails the test if a flow does not end or a packet is unaccounted for. */
void world_run(struct sim *s);

#define WORLD(s, ...) world_make(s, (const char *const[]){__VA_ARGS__, NULL})
