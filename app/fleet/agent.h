/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_AGENT_H
#define HP3_APP_FLEET_AGENT_H
/*
 * hp3-fleet agent: on each host, beside hp3d. It asks hp3d on its control socket what the flows do,
 * and reports it on NATS; a process of its own, so that nothing of it can hurt hp3d, whose lcores
 * see of it what they see of hp3ctl. Where [agent] advice = on it hands on what plans advise
 * (apply.h); else its reports say that nothing of this host can move, and it subscribes to nothing.
 */
#include "app/fleet/keys.h"

/* Runs until a signal ends it, or NATS refuses this user. An exit code. */
int fleet_agent(const struct fleet_config *cfg);

#endif
