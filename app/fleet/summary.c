/* SPDX-License-Identifier: BSD-3-Clause */
/* The summary in a planner's answers: numbers of hosts, flows, links and alarms; empty maps. */
#include "app/fleet/answer.h"
#include "base/minmax.h"

struct fleet_links fleet_links_count(const struct hp3_fleet *f)
{
	struct fleet_links all = {0};
	struct hp3_fleet_link l;

	for (uint32_t i = 0; hp3_fleet_link_at(f, i, &l); i++) {
		all.alarms[l.level]++;
		all.worst_kbps = hp3_max_u64(all.worst_kbps, l.load_kbps);
	}
	return all;
}

/* Why no flow is on the map, and what to do; null if a flow is on the map. */
static json_t *empty_map_json(const struct hp3_fleet *f)
{
	const struct hp3_fleet_counts *c = hp3_fleet_counts(f);

	if (c->hosts == 0)
		return json_string("no host reports: start `hp3-fleet --config FILE agent` on each "
				   "host");
	if (c->flows == 0)
		return json_sprintf(
			"0 flows reported (hosts: %u): no queue pair sent data in the last "
			"seconds",
			c->hosts);
	if (c->unplaced < c->flows)
		return json_null();
	return json_sprintf("0 of %u flows traced: set [ppp] identity = trace in hp3.ini of each "
			    "host, and restart hp3d. If it is set, switches do not report expired "
			    "packets (ICMP time exceeded)",
		c->flows);
}

json_t *fleet_summary(const struct fleet_planner *p)
{
	const struct hp3_fleet_counts *c = hp3_fleet_counts(p->fleet);
	const struct fleet_links links = fleet_links_count(p->fleet);

	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:s, s:o, s:o}",
		"hosts", (int)c->hosts, "twins", (int)c->twins, "flows", (int)c->flows, "unplaced",
		(int)c->unplaced, "links", (int)c->links, "alarms_low",
		(int)links.alarms[HP3_FLEET_LOW], "alarms_middle",
		(int)links.alarms[HP3_FLEET_MIDDLE], "alarms_high",
		(int)links.alarms[HP3_FLEET_HIGH], "term",
		json_integer((json_int_t)p->election.term), "epoch",
		json_integer((json_int_t)p->plan.epoch), "moves",
		json_integer((json_int_t)p->n_recent), "plans_by", p->plan.planner, "look_us",
		json_integer((json_int_t)p->look_us), "empty_map", empty_map_json(p->fleet));
}
