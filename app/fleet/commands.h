/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_COMMANDS_H
#define HP3_APP_FLEET_COMMANDS_H
/* What is asked of an hp3-fleet that runs, over NATS, and `order`, which needs one for ports alone.
 * All return an exit code and have told the user. */
#include <stdbool.h>
#include "app/fleet/keys.h"

struct fleet_options {
	const char *command, *flow;
	const char *hosts; /* order */
	unsigned ranks, limit;
	bool json, ports;
};

/* Is there such a question? */
bool fleet_command_is_known(const char *command);
int fleet_ask(const struct fleet_config *cfg, const struct fleet_options *o);
int fleet_order(const struct fleet_config *cfg, const struct fleet_options *o);

#endif
