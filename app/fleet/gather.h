/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_GATHER_H
#define HP3_APP_FLEET_GATHER_H
/*
 * From what hp3d says of its flows and paths (hp3ctl(1), `flows` and `paths`) to a report: its
 * heaviest flows by what left since the last time, where they are, and by which other switches
 * ports lead that hp3d knows. Calls nothing that waits.
 *
 * hp3d does not say how many packets came marked: `marks` is the part that did of those that left,
 * summed up. A flow has settled when it was first seen here, or moved.
 */
#include <jansson.h>
#include "app/flowid.h"
#include "fleet/message.h"

struct fleet_gather {
	char host[HP3_FLEET_NAME], leaf[HP3_FLEET_LEAF];
	uint64_t instance, seq;
	uint32_t interval_ms;
	bool applies_plans; /* plans are taken into account: flows can move */
	uint8_t n_addrs; /* those that are known without flows */
	struct hp3_fleet_addr addr[HP3_FLEET_ADDRS];
	json_t *before; /* by flow: what it had, the last time; NULL: this is the first one */
	char id[HP3_FLEET_FLOWS][HP3_FLOWID_MAX]; /* of the flows of the last report */
};

/*
 * Fills *out, but for the other paths of its flows. The list may have anything in it: what is no
 * flow is left out. A report at once, between those that have their time, has the rates and marks
 * of the last one of these. Times are this host's.
 */
void fleet_gather(struct fleet_gather *g, json_t *flows, bool at_once, uint64_t now_ms,
	uint64_t wall_ms, struct hp3_fleet_report *out);
/* Whose address pair hp3d is to be asked for: flow i of the report; NULL: an earlier one has it. */
const char *fleet_gather_asks(const struct fleet_gather *g, unsigned i);
/* What hp3d says of an address pair: other paths of all flows of it. */
void fleet_gather_pair(const struct fleet_gather *g, json_t *pair, struct hp3_fleet_report *out);
void fleet_gather_free(struct fleet_gather *g);

/* An IPv4 or IPv6 address; false: it is none. */
bool fleet_addr_parse(const char *text, struct hp3_fleet_addr *a);

#endif
