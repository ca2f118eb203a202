/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Questions (answer.h) to a running hp3-fleet, over NATS. Errors and their fixes go to stderr. */
#include <jansson.h>
#include "app/fleet/keys.h"

/*
 * Connects to NATS. Waits a few seconds for the connection; after that, libnats goes on trying.
 * NULL: NATS cannot be used at all.
 */
struct hp3_bus *fleet_line_open(const struct fleet_config *cfg);
/* Returns the answer, a new reference, even if the answer is an error; NULL: no answer. Frees the
 * question. */
json_t *fleet_question(struct hp3_bus *line, const struct fleet_config *cfg, json_t *question);
