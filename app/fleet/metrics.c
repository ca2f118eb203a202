/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/answer.h"
#include <stdio.h>
#include <stdlib.h>

/* X(name, help, value); `p`: planner, `c`: counts, `worst`: kbit/s. */
#define GAUGES(X)                                                                                  \
	X(hosts, "hosts that report", c->hosts)                                                    \
	X(twins, "hosts with the name of another host", c->twins)                                  \
	X(flows, "flows in the latest reports", c->flows)                                          \
	X(flows_unplaced, "flows in the latest reports whose path is not traced", c->unplaced)     \
	X(flows_without_room, "flows left out for lack of links: raise max_links", c->links_full)  \
	X(flows_over_quota, "flows beyond the 32 of a host name", c->over_quota)                   \
	X(links, "links that carry flows", c->links)                                               \
	X(worst_link_kilobits_per_second, "load of the fullest link", worst)                       \
	X(leads, "1: this process plans", p->led_since_ms != 0)                                    \
	X(term, "term of the leader", p->election.term)                                            \
	X(connected, "1: connected to NATS", hp3_bus_is_up(p->bus))                                \
	X(look_microseconds, "duration of the last map and plan", p->look_us)
#define COUNTERS(X)                                                                                \
	X(reports, "reports taken", c->reports)                                                    \
	X(reports_old, "duplicate reports, and overtaken ones", c->old)                            \
	X(reports_refused, "reports of hosts without room: raise max_hosts", c->refused)           \
	X(reports_too_often, "reports sooner than report_ms allows", c->too_often)                 \
	X(reports_third_instance, "reports with the host name of two others", c->third_instance)   \
	X(messages_bad, "invalid messages, and those with another sender's name", p->bad)          \
	X(messages_other_version, "messages of another version", p->other_version)                 \
	X(messages_dropped, "messages dropped because a queue was full", hp3_bus_dropped(p->bus))  \
	X(namesakes, "keep-alives of another process with this one's name", p->namesakes)          \
	X(plans, "plans sent", p->plans)                                                           \
	X(planned_moves, "moves in plans sent", p->moves)

static void put_alarms(FILE *f, const struct fleet_planner *p)
{
	unsigned level[HP3_FLEET_LEVELS] = {0};
	struct hp3_fleet_link l;

	for (uint32_t i = 0; hp3_fleet_link_at(p->fleet, i, &l); i++)
		level[l.level]++;
	fputs("# TYPE hp3_fleet_alarms gauge\n# HELP hp3_fleet_alarms links with an alarm of this "
	      "level\n",
		f);
	for (unsigned i = HP3_FLEET_LOW; i < HP3_FLEET_LEVELS; i++)
		fprintf(f, "hp3_fleet_alarms{level=\"%s\"} %u\n",
			hp3_fleet_level_name((enum hp3_fleet_level)i), level[i]);
}

static uint64_t worst_link(const struct hp3_fleet *fleet)
{
	struct hp3_fleet_link l;
	uint64_t most = 0;

	for (uint32_t i = 0; hp3_fleet_link_at(fleet, i, &l); i++)
		most = l.load_kbps > most ? l.load_kbps : most;
	return most;
}

static void put_all(FILE *f, const struct fleet_planner *p)
{
	const struct hp3_fleet_counts *c = hp3_fleet_counts(p->fleet);
	uint64_t worst = worst_link(p->fleet);

#define X(name, help, value)                                                                       \
	fprintf(f,                                                                                 \
		"# TYPE hp3_fleet_" #name " gauge\n# HELP hp3_fleet_" #name " " help               \
		"\nhp3_fleet_" #name " %llu\n",                                                    \
		(unsigned long long)(value));
	GAUGES(X)
#undef X
#define X(name, help, value)                                                                       \
	fprintf(f,                                                                                 \
		"# TYPE hp3_fleet_" #name " counter\n# HELP hp3_fleet_" #name " " help             \
		"\nhp3_fleet_" #name "_total %llu\n",                                              \
		(unsigned long long)(value));
	COUNTERS(X)
#undef X
	put_alarms(f, p);
	fputs("# EOF\n", f);
}

char *fleet_metrics(struct fleet_planner *p, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (f == NULL)
		return NULL;
	pthread_mutex_lock(&p->lock);
	put_all(f, p);
	pthread_mutex_unlock(&p->lock);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}
