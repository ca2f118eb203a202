/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_PROCESS_H
#define HP3_APP_FLEET_PROCESS_H
/*
 * Planner and agent as processes. They end on SIGINT or SIGTERM, or when the NATS servers refuse
 * the process's user.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "app/bus/bus.h"
#include "app/fleet/keys.h"

void fleet_ends_by_signals(void);
/* True: the process is to end. A signal also interrupts sleep and poll. */
bool fleet_is_over(const struct hp3_bus *bus);
uint64_t fleet_clock_us(clockid_t id);
/* If the NATS servers have refused this user, prints why and returns FLEET_FAILED; otherwise
 * FLEET_DONE. */
int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg);

#endif
