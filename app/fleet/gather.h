/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Makes a report from hp3d's lists of flows and paths (hp3ctl(1), `flows` and `paths`). The report
 * has the flows with the highest rates since the last regular report, and their paths. Idle flows
 * are left out. The report also has other EVs, if their paths cross other switches in hp3d's
 * traces, and are not known to be bad. No function here waits.
 *
 * hp3d does not report how many packets were marked. `marks` is an estimate: the sum of packets
 * sent times the marked share. The settled time of a flow begins when the agent first sees the
 * flow. It begins anew when the flow moves.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "app/fleet/hp3d.h"
#include "app/flowid.h"
#include "fleet/message.h"

struct fleet_gather {
	char host[HP3_FLEET_NAME], leaf[HP3_FLEET_LEAF];
	uint64_t instance, seq;
	uint32_t interval_ms;
	bool applies_plans; /* the agent passes on advice: flows can move */
	uint8_t n_addrs; /* configured addresses */
	struct hp3_fleet_addr addr[HP3_FLEET_ADDRS];
	/* by flow: its values at the last regular report; NULL: none; the caller frees it */
	json_t *before;
	char id[HP3_FLEET_FLOWS][HP3_FLOWID_MAX]; /* ids of the flows of the last report */
};

/*
 * Fills *out, except the other paths of its flows. Skips items of the list that are not flows.
 * `at_once`: a report between two regular reports, with the rates and marks of the last regular
 * report. Times are those of this host.
 */
void fleet_gather(struct fleet_gather *g, json_t *flows, bool at_once, uint64_t now_ms,
	uint64_t wall_ms, struct hp3_fleet_report *out);
/* The id of flow i of the report, to ask hp3d for the paths of its address pair; NULL: an earlier
 * flow has the same pair. */
const char *fleet_gather_asks(const struct fleet_gather *g, unsigned i);
/* Adds hp3d's paths of an address pair to all flows of the pair in the report. */
void fleet_gather_pair(const struct fleet_gather *g, json_t *pair, struct hp3_fleet_report *out);

/* Parses an IPv4 or IPv6 address; false: the text is not an address. */
bool fleet_addr_parse(const char *text, struct hp3_fleet_addr *a);

/*
 * Events that cause a report at once: hp3d finds severe congestion or loss on a path, or leaves a
 * dead path. The agent reads hp3d's events at an interval.
 */
struct fleet_severe {
	uint32_t every_ms; /* 0: never */
	uint64_t due_ms; /* time of the next read */
	json_int_t since; /* number of the last event read; 0: none */
	/* value of fleet_hp3d.run when `since` was read. If it has changed, `since` is invalid,
	 * because a new hp3d numbers its events from 1 again */
	unsigned run;
};

/* True: this read found such an event. Always false if the read is not due, in the first read, and
 * in the first read after a reconnection. */
bool fleet_severe(struct fleet_severe *s, struct fleet_hp3d *h, uint64_t now_ms);
