/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Bonds: [bond.NAME] lists rails whose ports are the members of one bond. These rails share one
 * flow table per lcore. The table belongs to the bond's first rail, the *lead*. A rail without a
 * bond is its own lead. Flows, peers and counters have the name of the bond; ports and links have
 * the names of the rails.
 */
#include "config/config.h"

/* The index of the bond that has this rail; n_bonds: none has it. */
unsigned hp3_config_bond(const struct hp3_config *cfg, unsigned rail);
unsigned hp3_config_lead(const struct hp3_config *cfg, unsigned rail);
static inline bool hp3_config_is_lead(const struct hp3_config *cfg, unsigned rail)
{
	return hp3_config_lead(cfg, rail) == rail;
}
/* The next rail of the same bond, in the order of the list; the first one follows the last one.
 * Without a bond: the rail itself. */
unsigned hp3_config_next_member(const struct hp3_config *cfg, unsigned rail);

/* The name that flows and counters of this rail have: that of its bond, or its own. */
const char *hp3_config_flows_name(const struct hp3_config *cfg, unsigned rail);
/* The lead whose flows have this name: of a bond, or of a rail. n_rails: there is none. */
unsigned hp3_config_flows_rail(const struct hp3_config *cfg, const char *name);

/* Reports errors of [bond.NAME] sections. */
void hp3_config_check_bonds(struct hp3_ini_doc *doc, const struct hp3_config *c);
