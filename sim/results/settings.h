/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_SETTINGS_H
#define HP3_SIM_RESULTS_SETTINGS_H
/*
 * What a run was made from, and the key under which its result is kept.
 *
 * Settings are those that the run used: [sweep] is of many runs, [traffic] and faults are not of a
 * trace (but traffic.read_percent), the shape of a fabric is not of one that was read from a file,
 * policy is of those balancers alone that run an engine.
 * The key is the SHA-256 of the settings, of the contents of all files read, and of the sources
 * that the run depends on: without an engine those of the model, which the engine's are no part of.
 * Names of files are no part of it, either. Equal keys: the same result, but for its costs.
 */
#include <jansson.h>
#include "sim/core/config.h"
#include "sim/core/input.h"

struct sim_inputs { /* NULL, or one without a name: not read */
	const struct sim_input *topology, *sizes, *flows;
};

/* Of the source this was built from: git describe; SHA-256 of the files that the balancer's
 * runs depend on. */
const char *sim_commit(void);
const char *sim_source(const char *lb);

/* Object: "section.key": value. */
json_t *sim_settings_json(const struct sim_config *cfg, const struct sim_inputs *in);
/* Object: "topology", "sizes", "flows", those that were read: {"name", "sha256"}. */
json_t *sim_inputs_json(const struct sim_inputs *in);
void sim_key(const struct sim_config *cfg, const struct sim_inputs *in, char key[SIM_SHA256_HEX]);
/* The key that a run of the scenario would have now; reads its files. 0 or negative errno. */
int sim_key_of_scenario(const struct sim_config *cfg, char key[SIM_SHA256_HEX]);

#endif
