/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The inputs of a run, and its key. Runs with equal keys have equal results, except for their costs
 * (CPU time, memory).
 *
 * Only settings that the run used count. These are left out: [sweep]; with a trace, [traffic]
 * (except read_percent), [background] and [fault]; with a topology file, the shape of the fabric,
 * and the rates and delays of links; if the balancer runs no engine, the policy. The key is the
 * SHA-256 of the settings, of the contents of all files read, and of the source files that the run
 * depends on. A balancer without an engine depends only on the source files of the simulator.
 * Names of files are not part of the key.
 */
#include <jansson.h>
#include "sim/core/config.h"
#include "sim/core/input.h"

struct sim_inputs { /* NULL, or an empty name: no file was read */
	const struct sim_input *topology, *sizes, *flows;
};

/* The source of this build: its git describe; the SHA-256 of the source files that runs of balancer
 * `lb` depend on. */
const char *sim_commit(void);
const char *sim_source(const char *lb);

/* A JSON object with members "section.key": value. */
json_t *sim_settings_json(const struct sim_config *cfg, const struct sim_inputs *in);
/* A JSON object with a member {"name", "sha256"} for each of "topology", "sizes", "flows" that was
 * read. */
json_t *sim_inputs_json(const struct sim_inputs *in);
void sim_key(const struct sim_config *cfg, const struct sim_inputs *in, char key[SIM_SHA256_HEX]);
/* Reads the scenario's files, and computes the key that a run would have now. Returns 0 or a
 * negative errno. */
int sim_key_of_scenario(const struct sim_config *cfg, char key[SIM_SHA256_HEX]);
