/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_PROCESS_H
#define HP3_APP_FLEET_PROCESS_H
/*
 * What planner and agent are as processes: they end by SIGINT or SIGTERM, and where the servers
 * refuse their user.
 */
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "app/bus/bus.h"
#include "app/fleet/keys.h"

void fleet_ends_by_signals(void);
/* It is to end: a signal came, or servers refuse. A signal cuts sleep and poll short. */
bool fleet_is_over(const struct hp3_bus *bus);
uint64_t fleet_clock_us(clockid_t id);
/* FLEET_FAILED where servers have refused this user, which is said; otherwise FLEET_DONE. */
int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg);

#endif
