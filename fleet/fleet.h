/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The planner's core. From the reports of many hosts, the core makes a map of links with load and
 * marks: the reports name the switches on the paths of flows. From the map, the core makes alarms,
 * and a plan of moves that lowers the load of the fullest links. (This is the global optimal
 * reroute of Astral, ZTE Communications 31(2), 2025, without control of the switches.) Sans-IO: the
 * caller passes reports and the time, and gets a plan. The functions make no system call, read no
 * clock, and use only the memory given to hp3_fleet_create().
 *
 * Invariants (tests/fleet):
 * - The plan is a function of the latest report of each host and of earlier plans. The order of
 *   reports, duplicates and the hosts' clocks do not change a byte of the plan. Exception: if two
 *   new instances of a host name report, and an old one is still stored, only the new instance that
 *   reports first is stored.
 * - A plan never raises the predicted load of the fullest link. Each move takes a flow from a link
 *   to another path. After the move, the load of each link of the new path is at least
 *   improve_percent below the old link's load before the move.
 * - A plan has at most `moves` moves. Plans name a flow at most once in hold_ms. Plans never name a
 *   path that the flow's host has just probed and found no better.
 * - If two live hosts have the same name, no plan names either of them.
 * - A host name has at most two instances, HP3_FLEET_FLOWS flows on the map, and HP3_FLEET_FLOWS
 *   moves in hold_ms. Reports more frequent than report_ms are refused. So a host costs memory and
 *   time in proportion to its flows.
 *
 * A link is named by its two ends. One end is a leaf, named as in the configuration of its hosts;
 * the other end is a switch that traces found on the path. A flow uses one link up, from the leaf
 * of its source, and one link down, to the leaf of its destination. Hosts whose leaf is not known
 * share the leaf "".
 *
 * Single-threaded. Times are in ms of one clock that never goes back; rates are in kbit/s.
 */
#include "fleet/message.h"

#define HP3_FLEET_INSTANCES                                                                        \
	2u /* instances of a host name; each start of an agent is an instance                      \
	    */
#define HP3_FLEET_BURST 20u /* reports */

struct hp3_fleet_params {
	uint32_t max_hosts, max_links;
	uint64_t hash_seed; /* results do not depend on it */
	/*
	 * a host is gone if no report of the host arrived for this time, and for three of its
	 * report intervals
	 */
	uint32_t age_ms;
	/*
	 * minimum mean time between reports of an instance; bursts may have HP3_FLEET_BURST
	 * reports; 0: no minimum
	 */
	uint32_t report_ms;
	uint64_t link_kbps; /* rate of a link between leaf and spine; 0: not known */
	/*
	 * A link is hot if more than mark_permille of its packets are marked. A link is also hot if
	 * a host reports severe congestion of a path with this link. If link_kbps is not 0, a link
	 * is also hot if its load reaches full_percent of link_kbps. Moves then never load a link
	 * beyond full_percent of link_kbps.
	 */
	uint32_t mark_permille;
	uint32_t full_percent;
	uint32_t improve_percent;
	uint32_t moves; /* up to HP3_FLEET_MOVES */
	uint32_t hold_ms;
	uint32_t valid_ms;
	/*
	 * Levels of alarms. A period has period_ms. Low: more than alarm_marks marks in a period.
	 * Middle: more than alarm_marks marks in each of middle_periods periods in a row. High:
	 * high_alarms alarms at one switch within window_ms.
	 */
	uint32_t period_ms, alarm_marks, middle_periods, high_alarms, window_ms;
};

enum hp3_fleet_level {
	HP3_FLEET_QUIET,
	HP3_FLEET_LOW,
	HP3_FLEET_MIDDLE,
	HP3_FLEET_HIGH,
	HP3_FLEET_LEVELS
};

struct hp3_fleet_link {
	bool down; /* direction: from hop to leaf; false: from leaf to hop */
	char leaf[HP3_FLEET_LEAF];
	struct hp3_fleet_addr hop;
	uint64_t load_kbps;
	uint32_t flows, severe; /* severe: flows whose hosts report severe congestion */
	uint32_t marked_permille; /* mean of its flows, weighted by rate */
	uint64_t marks; /* of the last whole period */
	uint8_t level; /* enum hp3_fleet_level */
};

struct hp3_fleet_host {
	const struct hp3_fleet_report *report;
	uint64_t heard_ms; /* when its latest report arrived */
	bool twin; /* another host has the same name */
};

/* Why a flow is not in the plan. BETTER: the flow can move. X(symbol, text) */
#define HP3_FLEET_VERDICT_TEXTS(X)                                                                 \
	X(BETTER, "another path is less full")                                                     \
	X(COOL, "neither of its links is hot")                                                     \
	X(UNPLACED, "no trace names its path")                                                     \
	X(IMMOVABLE, "its host reports that it cannot move now")                                   \
	X(TWIN, "two hosts have its host's name")                                                  \
	X(SETTLING, "it moved, or was advised to, a short while ago") /* within hold_ms */         \
	/* plans named its host HP3_FLEET_FLOWS times within hold_ms */                            \
	X(QUOTA, "its host has had the most advice allowed within hold_ms")                        \
	X(NOWHERE, "its host knows no other path")                                                 \
	X(NO_GAIN, "other paths would be as full")                                                 \
	X(NO_BETTER, "other paths would be as full, or were probed and are no better")

enum hp3_fleet_verdict {
#define X(sym, text) HP3_FLEET_##sym,
	HP3_FLEET_VERDICT_TEXTS(X)
#undef X
		HP3_FLEET_VERDICTS
};

struct hp3_fleet_place {
	const struct hp3_fleet_flow *flow;
	const struct hp3_fleet_host *host;
	int up, down; /* indexes of links; -1: none */
};

struct hp3_fleet_counts {
	uint32_t hosts, twins, flows, unplaced, links;
	uint32_t links_full; /* flows left out, because their links would exceed max_links */
	uint32_t over_quota; /* flows beyond HP3_FLEET_FLOWS of one host name */
	/*
	 * numbers of reports. reports: stored ones; old: duplicates, and reports that arrived after
	 * a newer one; refused: reports of further hosts when there were max_hosts hosts
	 */
	uint64_t reports, old, refused;
	uint64_t too_often; /* reports sooner than report_ms allows */
	uint64_t third_instance; /* reports beyond HP3_FLEET_INSTANCES of a host name */
};

struct hp3_fleet;

/* Bytes of memory that hp3_fleet_create() needs; 0: a parameter is out of range. */
size_t hp3_fleet_size(const struct hp3_fleet_params *p);
/* `mem`: hp3_fleet_size() bytes, aligned to 64 bytes. NULL: a parameter is out of range. */
struct hp3_fleet *hp3_fleet_create(void *mem, const struct hp3_fleet_params *p);

/*
 * Stores a report. Returns 0; -EALREADY: the report is a duplicate, or a newer report arrived
 * first; -ENOSPC: there are max_hosts other hosts; -EUSERS: the report is from a third instance;
 * -EBUSY: the report came sooner than report_ms allows.
 */
int hp3_fleet_take(struct hp3_fleet *f, const struct hp3_fleet_report *r, uint64_t now_ms);

/*
 * Removes hosts that are gone, builds the map from the latest reports, and raises and ends alarms.
 */
void hp3_fleet_look(struct hp3_fleet *f, uint64_t now_ms);
/*
 * Makes a plan from the map of the last hp3_fleet_look(). `term`, `planner`: term and name of the
 * leader.
 */
void hp3_fleet_plan(struct hp3_fleet *f, uint64_t term, const char *planner, uint64_t now_ms,
	struct hp3_fleet_plan *out);

/*
 * State at the last hp3_fleet_look(), for display. `i` counts the items from 0, in no particular
 * order. False: there is no i-th item.
 */
bool hp3_fleet_link_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_link *out);
bool hp3_fleet_flow_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_place *out);
bool hp3_fleet_host_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_host *out);
const struct hp3_fleet_counts *hp3_fleet_counts(const struct hp3_fleet *f);
/*
 * Why flow number `flow` is not in the plan. If the result is BETTER, *alt is the index of the best
 * other path of the flow. *after_kbps is then the load of the fullest link of this path after the
 * move.
 */
enum hp3_fleet_verdict hp3_fleet_why(const struct hp3_fleet *f, uint32_t flow, uint64_t now_ms,
	unsigned *alt, uint64_t *after_kbps);

const char *hp3_fleet_level_name(enum hp3_fleet_level l);
const char *hp3_fleet_verdict_text(enum hp3_fleet_verdict v);
