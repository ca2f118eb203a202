/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include "app/clock.h"
#include "app/fleet/apply.h"
#include "app/fleet/gather.h"
#include "app/fleet/hp3d.h"
#include "app/fleet/planner.h"
#include "app/fleet/process.h"
#include "base/minmax.h"
#include "fleet/names.h"

#define FLOWS_MAX 65536u /* flows read for a report */
#define ACTIVE_MS 3000u /* a report has no flows idle for longer than this and three intervals */

struct agent {
	struct hp3_bus *bus;
	struct fleet_hp3d hp3d;
	struct fleet_gather gather;
	struct hp3_fleet_report report; /* the latest */
	struct fleet_apply apply;
	bool applies_plans;
	struct fleet_severe severe;
	char subject[sizeof(FLEET_SUBJECT_PREFIX) + HP3_FLEET_NAME];
	char printed[FLEET_HP3D_WHY]; /* why hp3d does not answer; empty: hp3d answers */
};

static json_t *ask_for_flows(struct agent *a)
{
	char filter[32];

	snprintf(filter, sizeof(filter), "idle<%u",
		hp3_max_u32(ACTIVE_MS, 3 * a->gather.interval_ms));
	return fleet_hp3d_list(
		&a->hp3d, json_pack("{s:s, s:s}", "cmd", "flows", "filter", filter), FLOWS_MAX);
}

/* Adds other paths of the flows. A flow that has ended meanwhile is no error. */
static void ask_for_paths(struct agent *a, struct hp3_fleet_report *r)
{
	for (unsigned i = 0; i < r->n_flows; i++) {
		const char *id = fleet_gather_asks(&a->gather, i);
		json_t *pairs = id == NULL ? NULL
					   : fleet_hp3d_ask(&a->hp3d, json_pack("{s:s, s:s}", "cmd",
									      "paths", "flow", id));

		fleet_gather_pair(&a->gather, json_array_get(pairs, 0), r);
		json_decref(pairs);
		if (a->hp3d.line.fd < 0)
			return; /* hp3d does not answer */
	}
}

/* Prints a reason once, until it changes. */
static void log_hp3d_state(struct agent *a, const char *why)
{
	if (strcmp(why, a->printed) == 0)
		return;
	fprintf(stderr, "hp3-fleet: %s\n", *why != '\0' ? why : "hp3d answers");
	snprintf(a->printed, sizeof(a->printed), "%s", why);
}

/* If hp3d does not answer, there is no report: for planners, this host is gone. */
static void publish_report(struct agent *a, bool at_once)
{
	struct hp3_fleet_report *r = &a->report;
	static uint8_t bytes[HP3_FLEET_BYTES];
	json_t *flows = ask_for_flows(a);
	size_t n;

	log_hp3d_state(a, flows == NULL ? a->hp3d.why : "");
	if (flows == NULL)
		return;
	fleet_gather(&a->gather, flows, at_once, hp3_clock_ms(),
		fleet_clock_us(CLOCK_REALTIME) / 1000, r);
	json_decref(flows);
	ask_for_paths(a, r);
	if (a->applies_plans)
		fleet_apply_report(&a->apply, &a->gather, r, hp3_clock_ms());
	n = hp3_fleet_report_encode(r, bytes, sizeof(bytes));
	if (n != 0)
		hp3_bus_publish(a->bus, a->subject, bytes, n);
}

/* Time until the next report, the next read of events, or pending advice. */
static int wait_ms(const struct agent *a, uint64_t due, uint64_t now)
{
	uint64_t ms = due - now;

	if (a->severe.every_ms != 0)
		ms = hp3_min_u64(ms, a->severe.due_ms > now ? a->severe.due_ms - now : 0);
	if (a->applies_plans && hp3_fleet_advice_waits(&a->apply.advice))
		ms = hp3_min_u64(ms, HP3_FLEET_ADVICE_RETRY_MS);
	return (int)ms;
}

static void run_agent(struct agent *a)
{
	struct pollfd plans = {.fd = a->applies_plans ? a->apply.bell[0] : -1, .events = POLLIN};
	uint64_t due = hp3_clock_ms();

	while (!fleet_is_over(a->bus)) {
		uint64_t now = hp3_clock_ms();

		if (now >= due) {
			if (a->applies_plans)
				fleet_apply_outcomes(&a->apply, now);
			publish_report(a, false);
			due = hp3_clock_ms() + a->gather.interval_ms;
			continue;
		}
		if (fleet_severe(&a->severe, &a->hp3d, now))
			publish_report(a, true);
		poll(&plans, 1, wait_ms(a, due, now)); /* a signal interrupts it */
		if (a->applies_plans)
			fleet_apply_plan(&a->apply, &a->gather, &a->report, hp3_clock_ms());
	}
}

/* Takes the addresses of the configuration, which are valid. */
static void take_addresses(struct fleet_gather *g, const char *text)
{
	char list[HP3_INI_VALUE_MAX], *next = list, *one;

	snprintf(list, sizeof(list), "%s", text);
	while ((one = strsep(&next, ", ")) != NULL)
		if (g->n_addrs < HP3_FLEET_ADDRS && fleet_addr_parse(one, &g->addr[g->n_addrs]))
			g->n_addrs++;
}

static bool begin_agent(struct agent *a, const struct fleet_config *cfg)
{
	struct fleet_gather *g = &a->gather;

	snprintf(g->host, sizeof(g->host), "%s", cfg->agent.host);
	snprintf(g->leaf, sizeof(g->leaf), "%s", cfg->agent.leaf);
	g->interval_ms = cfg->agent.interval_ms;
	g->applies_plans = a->applies_plans = cfg->agent.advice;
	a->severe.every_ms = cfg->agent.severe_ms;
	if (*g->host == '\0') {
		gethostname(g->host, sizeof(g->host) - 1);
		g->host[strcspn(g->host, ".")] = '\0';
	}
	if (*g->host == '\0' || !hp3_fleet_is_name(g->host)) {
		fprintf(stderr,
			"hp3-fleet: this host's name \"%s\" has other characters than "
			"letters, digits, '-' and '_': set host= in [agent]\n",
			g->host);
		return false;
	}
	take_addresses(g, cfg->agent.addresses);
	a->hp3d = (struct fleet_hp3d){.path = cfg->agent.control, .line.fd = -1};
	snprintf(a->subject, sizeof(a->subject), FLEET_SUBJECT_PREFIX "%s", g->host);
	return getrandom(&g->instance, sizeof(g->instance), 0) == (ssize_t)sizeof(g->instance);
}

int fleet_agent(const struct fleet_config *cfg)
{
	static struct agent a;
	int ret;

	fleet_ends_by_signals();
	if (!begin_agent(&a, cfg))
		return FLEET_FAILED;
	a.bus = fleet_bus_open(cfg);
	if (a.bus == NULL)
		return FLEET_FAILED;
	if (a.applies_plans &&
		fleet_apply_start(&a.apply, a.bus, &a.hp3d, a.gather.host, a.gather.instance) < 0 &&
		!hp3_bus_is_refused(a.bus)) {
		fputs("hp3-fleet: no memory for a subscription, or no file descriptors\n", stderr);
		hp3_bus_close(a.bus);
		return FLEET_FAILED;
	}
	fprintf(stderr, "hp3-fleet: reports for %s%s, %s\n", a.gather.host,
		a.applies_plans ? ", applies plans" : "",
		hp3_bus_is_up(a.bus) ? "connected" : "no server yet, trying again");
	run_agent(&a);
	ret = fleet_ended(a.bus, cfg);
	hp3_bus_close(a.bus);
	if (a.applies_plans)
		fleet_apply_end(&a.apply);
	hp3_line_close(&a.hp3d.line);
	json_decref(a.gather.before);
	return ret;
}
