/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_AGENT_H
#define HP3_APP_FLEET_AGENT_H
/*
 * hp3-fleet agent: runs on each host, with hp3d. It reads flows from hp3d's control socket and
 * reports them on NATS. It is a separate process, so that its faults do not affect hp3d, which
 * treats it like hp3ctl. With [agent] advice = on, it passes advice of plans to hp3d (apply.h).
 * Otherwise, it subscribes to nothing, and its reports mark all flows of the host as immovable.
 */
#include "app/fleet/keys.h"

/* Runs until a signal ends it, or NATS refuses this user. Returns an exit code. */
int fleet_agent(const struct fleet_config *cfg);

#endif
