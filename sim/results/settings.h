/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_SETTINGS_H
#define HP3_SIM_RESULTS_SETTINGS_H
/*
 * The inputs of a run, and the key under which its result is stored.
 *
 * Settings are those that the run used. Left out are [sweep]; with a trace, [traffic] and faults
 * (except traffic.read_percent); with a topology file, the shape of the fabric; without an engine,
 * policy.
 * The key is the SHA-256 of the settings, of the contents of all files read, and of the sources
 * that the run depends on (without an engine, those of the model alone). Names of files are not
 * part of it. Equal keys have the same result, except for its costs.
 */
#include <jansson.h>
#include "sim/core/config.h"
#include "sim/core/input.h"

struct sim_inputs { /* NULL, or one without a name: not read */
	const struct sim_input *topology, *sizes, *flows;
};

/* Of the source of this build: git describe; SHA-256 of the files that the balancer's runs depend
 * on. */
const char *sim_commit(void);
const char *sim_source(const char *lb);

/* Object: "section.key": value. */
json_t *sim_settings_json(const struct sim_config *cfg, const struct sim_inputs *in);
/* Object: of "topology", "sizes", "flows" those that were read: {"name", "sha256"}. */
json_t *sim_inputs_json(const struct sim_inputs *in);
void sim_key(const struct sim_config *cfg, const struct sim_inputs *in, char key[SIM_SHA256_HEX]);
/* The key that a run of the scenario would have now; reads its files. 0 or negative errno. */
int sim_key_of_scenario(const struct sim_config *cfg, char key[SIM_SHA256_HEX]);

#endif
