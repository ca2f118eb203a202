/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_REPORT_H
#define HP3_FLEET_REPORT_H
/* For who makes a report: switches, which flows name by their place among the hops. */
#include "fleet/message.h"

/* The place of a switch, which is added if it is not there; HP3_FLEET_NO_HOP: no room. */
uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop);
/* That switch (HP3_FLEET_NO_HOP: not known) is a spine path that the flow has not got yet: it is
 * neither on its path nor on one of the others. */
bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop);

#endif
