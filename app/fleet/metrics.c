/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/fleet/answer.h"
#include <inttypes.h>
#include <stdlib.h>
#include "app/memory_text.h"

#define GAUGE   "gauge", ""
#define COUNTER "counter", "_total"

static void put_metrics(struct hp3_text *t, const struct fleet_planner *p, uint64_t worst_kbps)
{
	const struct hp3_fleet_counts *c = hp3_fleet_counts(p->fleet);
	const struct {
		const char *name, *type, *suffix, *help;
		uint64_t value;
	} metrics[] = {
		{"hosts", GAUGE, "hosts that report", c->hosts},
		{"twins", GAUGE, "hosts with the name of another host", c->twins},
		{"flows", GAUGE, "flows in the latest reports", c->flows},
		{"flows_unplaced", GAUGE, "flows in the latest reports whose path is not traced",
			c->unplaced},
		{"flows_without_room", GAUGE, "flows left out for lack of links: raise max_links",
			c->links_full},
		{"flows_over_quota", GAUGE, "flows beyond the 32 of a host name", c->over_quota},
		{"links", GAUGE, "links that carry flows", c->links},
		{"worst_link_kilobits_per_second", GAUGE, "load of the fullest link", worst_kbps},
		{"leads", GAUGE, "1: this process plans", p->led_since_ms != 0},
		{"term", GAUGE, "term of the leader", p->election.term},
		{"connected", GAUGE, "1: connected to NATS", hp3_bus_is_up(p->bus)},
		{"look_microseconds", GAUGE, "duration of the last map and plan", p->look_us},
		{"reports", COUNTER, "reports taken", c->reports},
		{"reports_old", COUNTER, "duplicate reports, and overtaken ones", c->old},
		{"reports_refused", COUNTER, "reports of hosts without room: raise max_hosts",
			c->refused},
		{"reports_too_often", COUNTER, "reports sooner than report_ms allows",
			c->too_often},
		{"reports_third_instance", COUNTER, "reports with the host name of two others",
			c->third_instance},
		{"messages_bad", COUNTER, "invalid messages, and those with another sender's name",
			p->bad},
		{"messages_other_version", COUNTER, "messages of another version",
			p->other_version},
		{"messages_dropped", COUNTER, "messages dropped because a queue was full",
			hp3_bus_dropped(p->bus)},
		{"namesakes", COUNTER, "keep-alives of another process with this one's name",
			p->namesakes},
		{"plans", COUNTER, "plans sent", p->plans},
		{"planned_moves", COUNTER, "moves in plans sent", p->moves},
	};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		hp3_text_put(t,
			"# TYPE hp3_fleet_%s %s\n# HELP hp3_fleet_%s %s\n"
			"hp3_fleet_%s%s %" PRIu64 "\n",
			metrics[i].name, metrics[i].type, metrics[i].name, metrics[i].help,
			metrics[i].name, metrics[i].suffix, metrics[i].value);
}

static void put_alarms(struct hp3_text *t, const struct fleet_links *links)
{
	hp3_text_put(t, "# TYPE hp3_fleet_alarms gauge\n# HELP hp3_fleet_alarms links with an "
			"alarm of this level\n");
	for (unsigned i = HP3_FLEET_LOW; i < HP3_FLEET_LEVELS; i++)
		hp3_text_put(t, "hp3_fleet_alarms{level=\"%s\"} %u\n",
			hp3_fleet_level_name((enum hp3_fleet_level)i), links->alarms[i]);
}

char *fleet_metrics(struct fleet_planner *p)
{
	struct fleet_links links;
	struct hp3_text t;

	if (!hp3_text_begin(&t))
		return NULL;
	pthread_mutex_lock(&p->lock);
	links = fleet_links_count(p->fleet);
	put_metrics(&t, p, links.worst_kbps);
	pthread_mutex_unlock(&p->lock);
	put_alarms(&t, &links);
	hp3_text_put(&t, "# EOF\n");
	if (hp3_text_end(&t))
		return t.at;
	free(t.at);
	return NULL;
}
