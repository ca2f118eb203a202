/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This host's identity for key agreement ([probes] keys = auto). The main thread sets it before it
 * creates agents, and all agents begin with it. hp3d_agent_become() passes a later identity to an
 * agent.
 */
#include "probes/identity.h"

struct hp3d_identity {
	struct hp3_identity keys;
	uint64_t instance; /* of this host since it booted */
	uint64_t born_us; /* wall clock at that boot */
};

void hp3d_identity_set(const struct hp3d_identity *id);
const struct hp3d_identity *hp3d_identity(void);
