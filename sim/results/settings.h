/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The inputs of a run, and its key. Runs with equal keys have equal results, except for the members
 * that json.h names (costs, commit, names of files).
 *
 * The key covers only the settings that the run used. The key never covers [sweep]. If the run
 * reads a trace, the key does not cover [traffic] (except read_percent), [background] and [fault].
 * If the run reads a topology file, the key does not cover the shape of the fabric, and the rates
 * and delays of links. If the balancer runs no engine, the key does not cover the policy. The key
 * is the SHA-256 of these settings, of the contents of all files read, and of the source files that
 * the run depends on. A run without engines depends only on the source files of the simulator.
 * Names of files are not part of the key.
 */
#include <jansson.h>
#include "sim/core/config.h"
#include "sim/core/input.h"

struct sim_inputs { /* a member that is NULL or has an empty name: no file was read */
	const struct sim_input *topology, *sizes, *flows;
};

/*
 * The source of this build. sim_commit() returns its git describe. sim_source() returns the SHA-256
 * of the source files on which runs of balancer `lb` depend.
 */
const char *sim_commit(void);
const char *sim_source(const char *lb);

/* Makes a JSON object with a member "section.key": value for each setting. */
json_t *sim_settings_json(const struct sim_config *cfg, const struct sim_inputs *in);
/*
 * Makes a JSON object with the members "topology", "sizes" and "flows". Each member is {"name",
 * "sha256"}, and exists only if the file was read.
 */
json_t *sim_inputs_json(const struct sim_inputs *in);
void sim_key(const struct sim_config *cfg, const struct sim_inputs *in, char key[SIM_SHA256_HEX]);
/* Reads the scenario's files, and computes the key that a run would have now. Returns 0 or a
 * negative errno. */
int sim_key_of_scenario(const struct sim_config *cfg, char key[SIM_SHA256_HEX]);
