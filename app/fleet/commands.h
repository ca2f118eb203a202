/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_COMMANDS_H
#define HP3_APP_FLEET_COMMANDS_H
/* Commands that query a running hp3-fleet over NATS, and `order`, which needs a running hp3-fleet
 * only for --ports. All return an exit code, and print their errors. */
#include <stdbool.h>
#include "app/fleet/keys.h"

struct fleet_options {
	const char *command, *flow;
	const char *hosts; /* order */
	unsigned ranks, limit;
	bool json, ports;
};

/* Does fleet_ask() have this command? */
bool fleet_command_is_known(const char *command);
int fleet_ask(const struct fleet_config *cfg, const struct fleet_options *o);
int fleet_order(const struct fleet_config *cfg, const struct fleet_options *o);

#endif
