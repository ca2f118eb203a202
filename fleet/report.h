/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_REPORT_H
#define HP3_FLEET_REPORT_H
/* For the maker of a report: the list of switches, which flows refer to by index. */
#include "fleet/message.h"

/* The index of a switch, which is added if it is missing; HP3_FLEET_NO_HOP: no room. */
uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop);
/* Neither the flow's path nor its other paths cross that switch. `hop` HP3_FLEET_NO_HOP: not
 * known. */
bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop);

#endif
