/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
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
/* Connects to NATS with the keys of [fleet]. NULL: prints why. */
struct hp3_bus *fleet_bus_open(const struct fleet_config *cfg);
/* If the NATS servers have refused this user, prints why and returns FLEET_FAILED; otherwise
 * FLEET_DONE. */
int fleet_ended(const struct hp3_bus *bus, const struct fleet_config *cfg);

/* Exit codes of hp3-fleet (hp3-fleet(1)), the same as those of hp3ctl. */
enum fleet_exit { FLEET_DONE, FLEET_FAILED, FLEET_USAGE, FLEET_UNREACHABLE };

/*
 * hp3-fleet agent runs on each host, with hp3d. The agent reads flows from hp3d's control socket
 * and reports the flows on NATS. The agent is a separate process, so that its faults do not affect
 * hp3d. For hp3d, the agent is a client of the control socket, and may be a member of [control]
 * group. With [agent] advice = on, the agent passes advice of plans to hp3d (apply.h). Without
 * advice = on, the agent subscribes to nothing. Its reports then lack HP3_FLEET_CAN_MOVE, so
 * planners move no flow of the host.
 */

/* Runs until a signal ends it, or NATS refuses this user. Returns an exit code. */
int fleet_agent(const struct fleet_config *cfg);
