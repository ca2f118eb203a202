/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/bond.h"
#include <string.h>
#include <rte_malloc.h>
#include "config/bonds.h"

struct hp3d_bond *hp3d_bond_create(const struct hp3_config *cfg, unsigned lead, int socket)
{
	const unsigned bond = hp3_config_bond(cfg, lead);
	const uint32_t flows = cfg->engine.max_flows;
	struct hp3d_bond *b =
		rte_zmalloc_socket("hp3d bond", sizeof(*b) + flows, RTE_CACHE_LINE_SIZE, socket);

	if (b == NULL)
		return NULL;
	b->in = b->latest = (uint8_t)lead;
	b->active_backup = cfg->bonds[bond].mode == HP3_BOND_ACTIVE_BACKUP;
	b->flows = flows;
	memset(b->of_flow, (int)lead, flows);
	return b;
}

void hp3d_bond_free(struct hp3d_bond *b)
{
	rte_free(b);
}
