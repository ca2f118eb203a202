/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_AGENT_H
#define HP3_APP_FLEET_AGENT_H
/*
 * hp3-fleet agent: runs on each host, with hp3d. It reads flows from hp3d's control socket and
 * reports them on NATS. It is a separate process, so that its faults do not affect hp3d. For hp3d,
 * it is a client of the control socket, and may be a member of [control] group. With [agent] advice
 * = on, it passes advice of plans to hp3d (apply.h). Otherwise, it subscribes to nothing. Its
 * reports are then without HP3_FLEET_CAN_MOVE, so planners move no flow of the host.
 */
#include "app/fleet/keys.h"

/* Runs until a signal ends it, or NATS refuses this user. Returns an exit code. */
int fleet_agent(const struct fleet_config *cfg);

#endif
