/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_QUESTION_H
#define HP3_APP_FLEET_QUESTION_H
/* Questions to an hp3-fleet that runs (answer.h has which), over NATS. Errors are told to the user,
 * with what to do about them. */
#include <jansson.h>
#include "app/fleet/keys.h"

/* Waits until a server is there, for a while. NULL: it cannot be used at all. */
struct hp3_bus *fleet_line_open(const struct fleet_config *cfg);
/* The answer, to be freed, whatever it says; NULL: there is none. Frees the question. */
json_t *fleet_question(struct hp3_bus *line, const struct fleet_config *cfg, json_t *question);

#endif
