/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_FLEET_H
#define HP3_FLEET_FLEET_H
/*
 * What one host cannot see: reports of many hosts, joined by the switches that they name, into a
 * map of links with load and marks; alarms; and a plan of moves that lowers the load of the fullest
 * links (the global optimal reroute of Astral, ZTE Communications 31(2), 2025, for fabrics whose
 * switches are not ours). Sans-IO: reports and time go in, a plan comes out; no system call, no
 * clock, no memory but what was handed over at the start.
 *
 * Invariants (tests/fleet):
 * - the plan is a function of the latest report of each host and of the plans before: neither the
 *   order in which reports came, nor duplicates, nor the hosts' clocks change a byte of it (but of
 *   two new instances of one name, with an old one there, the first to come is taken);
 * - a plan never raises the predicted load of the fullest link, and each of its moves leads from a
 *   link to paths that stay below it by improve_percent;
 * - never more than `moves` in a plan, and a flow is named once in hold_ms, and not for a path that
 *   its host has just asked in vain;
 * - where two live hosts bear one name, neither is told anything;
 * - a host name has two instances, HP3_FLEET_FLOWS flows on the map and as many moves in hold_ms at
 *   most, and reports of it that come faster than report_ms are refused: what one host reports
 * takes room and time in proportion to its flows.
 *
 * A link is named by its ends: a leaf (as hosts name their own) and the switch that traces named on
 * the path. A flow uses one up, from the leaf of its source, and one down, to that of its
 * destination. Hosts whose leaf is not known share the leaf "".
 *
 * Single-threaded. Times in ms of one clock that never goes back, rates in kbit/s.
 */
#include "fleet/message.h"

#define HP3_FLEET_INSTANCES 2u /* of a host name: an agent that was started anew is another one */
#define HP3_FLEET_BURST     20u /* reports */

struct hp3_fleet_params {
	uint32_t max_hosts, max_links;
	uint64_t hash_seed; /* results do not depend on it */
	uint32_t age_ms; /* a host that is silent for so long, and for three of its intervals, is
			    gone */
	uint32_t report_ms; /* mean time between reports of an instance, at least; of a burst
			       HP3_FLEET_BURST are taken. 0: no bound */
	uint64_t link_kbps; /* of the links between leaves and spines; 0: not known */
	/* a link is hot where so many of a thousand packets come marked, where a host finds its
	 * path severely congested, or, if link_kbps is known, where it is full to full_percent */
	uint32_t mark_permille;
	uint32_t full_percent; /* nor does a move fill a link beyond this */
	uint32_t improve_percent;
	uint32_t moves; /* up to HP3_FLEET_MOVES */
	uint32_t hold_ms;
	uint32_t valid_ms;
	/* Alarms: of period_ms each; more marks than that in one: low; in so many in a row: middle;
	 * so many alarms at a switch within window_ms: high */
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
	bool down; /* from hop to leaf; else from leaf to hop */
	char leaf[HP3_FLEET_LEAF];
	struct hp3_fleet_addr hop;
	uint64_t load_kbps;
	uint32_t flows, severe; /* severe: of these, as their hosts report */
	uint32_t marked_permille; /* mean of its flows, by rate */
	uint64_t marks; /* of the last whole period */
	uint8_t level; /* enum hp3_fleet_level */
};

struct hp3_fleet_host {
	const struct hp3_fleet_report *report;
	uint64_t heard_ms;
	bool twin; /* another one bears its name */
};

/* Why a flow is not in the plan, or where to it would go. */
enum hp3_fleet_verdict {
	HP3_FLEET_BETTER,
	HP3_FLEET_COOL, /* none of its links is hot */
	HP3_FLEET_UNPLACED, /* no trace names its path */
	HP3_FLEET_IMMOVABLE, /* says its host */
	HP3_FLEET_TWIN,
	HP3_FLEET_SETTLING, /* moved, or was named, less than hold_ms ago */
	HP3_FLEET_QUOTA, /* its host was named HP3_FLEET_FLOWS times within hold_ms */
	HP3_FLEET_NOWHERE, /* its host knows no other path */
	HP3_FLEET_NO_GAIN, /* others would be as full */
	HP3_FLEET_NO_BETTER, /* ... or have been asked, as advised, and are no better */
	HP3_FLEET_VERDICTS
};

struct hp3_fleet_place {
	const struct hp3_fleet_flow *flow;
	const struct hp3_fleet_host *host;
	int up, down; /* links; -1: none */
};

struct hp3_fleet_counts {
	uint32_t hosts, twins, flows, unplaced, links;
	uint32_t links_full; /* flows that found no room for their links */
	uint32_t over_quota; /* flows beyond HP3_FLEET_FLOWS of one host name */
	uint64_t reports, old, refused; /* taken; duplicates and overtaken ones; no room */
	uint64_t too_often; /* sooner than report_ms allows */
	uint64_t third_instance; /* of a host name that has HP3_FLEET_INSTANCES others */
};

struct hp3_fleet;

/* 0 where a parameter is out of range. */
size_t hp3_fleet_size(const struct hp3_fleet_params *p);
/* `mem`: of that size, aligned to 64 bytes. NULL: a parameter is out of range. */
struct hp3_fleet *hp3_fleet_create(void *mem, const struct hp3_fleet_params *p);

/* 0; -EALREADY: it has this one or a later one; -ENOSPC: more hosts than max_hosts; -EUSERS: a
 * third instance; -EBUSY: too soon after others of this instance. */
int hp3_fleet_take(struct hp3_fleet *f, const struct hp3_fleet_report *r, uint64_t now_ms);

/* Forgets hosts that are gone, draws the map anew, and raises and ends alarms. */
void hp3_fleet_look(struct hp3_fleet *f, uint64_t now_ms);
/* What the map of the last look asks for. `term`: of who leads. */
void hp3_fleet_plan(struct hp3_fleet *f, uint64_t term, const char *planner, uint64_t now_ms,
	struct hp3_fleet_plan *out);

/* As of the last look, for people. Links and flows are numbered from 0; false: there are no more,
 * in no order that means something. */
bool hp3_fleet_link_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_link *out);
bool hp3_fleet_flow_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_place *out);
bool hp3_fleet_host_at(const struct hp3_fleet *f, uint32_t i, struct hp3_fleet_host *out);
const struct hp3_fleet_counts *hp3_fleet_counts(const struct hp3_fleet *f);
/* BETTER: `alt` is the best of its other paths, whose fullest link would carry *after_kbps. */
enum hp3_fleet_verdict hp3_fleet_why(const struct hp3_fleet *f, uint32_t flow, uint64_t now_ms,
	unsigned *alt, uint64_t *after_kbps);

const char *hp3_fleet_level_name(enum hp3_fleet_level l);
const char *hp3_fleet_verdict_text(enum hp3_fleet_verdict v);

#endif
