/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_IDENTITY_H
#define HP3D_IDENTITY_H
/*
 * This host's identity where pairs of hosts agree on keys ([probes] keys = auto); all agents begin
 * with it. The main thread sets it before there are agents. A later change reaches them by
 * hp3d_agent_become().
 */
#include "probes/identity.h"

struct hp3d_identity {
	struct hp3_identity keys;
	uint64_t instance; /* of this host since it booted */
	uint64_t born_us; /* wall clock at that boot */
};

void hp3d_identity_set(const struct hp3d_identity *id);
const struct hp3d_identity *hp3d_identity(void);

#endif
