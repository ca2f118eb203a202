/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The list of switches in a report, for the code that builds the report. Flows refer to a switch by
 * its index in this list.
 */
#include "fleet/message.h"

/*
 * Returns the index of a switch, and adds the switch if it is missing; HP3_FLEET_NO_HOP: no room.
 */
uint8_t hp3_fleet_report_hop(struct hp3_fleet_report *r, const struct hp3_fleet_addr *hop);
/*
 * True: neither the flow's path nor its other paths cross this switch. False if `hop` is
 * HP3_FLEET_NO_HOP.
 */
bool hp3_fleet_is_new_spine_path(const struct hp3_fleet_flow *f, uint8_t hop);
