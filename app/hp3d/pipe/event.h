/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* What a pipe reports: an engine event with everything needed to print it. */
#include "engine/engine.h"
#include "probes/identity.h"

struct hp3d_event {
	struct hp3_event event;
	struct hp3_flow_info flow; /* addresses and QPNs at the time of the event */
	uint16_t rail; /* index into hp3_config.rails */
	uint16_t worker;
	/* KEYED, IDENTITY, CLONED: fingerprints of the peer's identity, and of its previous
	 * identity */
	char identity[HP3_FINGERPRINT_LEN], identity_before[HP3_FINGERPRINT_LEN];
};
