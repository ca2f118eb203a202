/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Answers questions about the planner's state in JSON: for hp3-fleet's commands (over NATS), and
 * for its page. A question is an object with these members. "ask": top, links, flows, hosts,
 * alarms, plan, why, spine_paths or page. "limit": number of rows, 1 to 1,000 (default: 50; for
 * top, at most 10). "flow" (for why): a part of a flow's name. "from", "to" (for spine_paths):
 * hosts. The answer has "ok": true, "planner", "leads", "summary" and "rows". If the question has
 * an error, the answer has "ok": false, "error" and "fix".
 *
 * A flow's name is HOST/SOURCE-DESTINATION/0xQPN. A link's name is LEAF>SWITCH (up) or SWITCH>LEAF
 * (down).
 */
#include <arpa/inet.h>
#include <jansson.h>
#include "app/fleet/planner.h"
#include "fleet/fleet.h"

#define FLEET_ROWS_MAX 1000

/* Takes the planner's lock. Returns JSON text, which the caller frees; NULL: no memory. */
char *fleet_answer(struct fleet_planner *p, const char *question, size_t len);

/*
 * Member "summary" of an answer. Its member "empty_map": why no flow is on the map, and what to do;
 * null if a flow is on the map.
 */
json_t *fleet_summary(const struct fleet_planner *p);

#define FLEET_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* hp3-fleet's metrics in OpenMetrics 1.0.0. Takes the planner's lock. The caller frees the text;
 * NULL: no memory. */
char *fleet_metrics(struct fleet_planner *p);

/* Sums over all links at the last hp3_fleet_look(). */
struct fleet_links {
	unsigned alarms[HP3_FLEET_LEVELS]; /* links with this level */
	uint64_t worst_kbps; /* load of the fullest link */
};

struct fleet_links fleet_links_count(const struct hp3_fleet *f);

/* Writes the address, or "?" if there is none, to `text`; returns `text`. */
const char *fleet_addr_text(const struct hp3_fleet_addr *a, char text[INET6_ADDRSTRLEN]);

/* The known EVs from one host to another, and the spine switches on their paths. The EVs are from
 * the first host's report: EVs of its flows to the second host, and of other paths to the second
 * host. */
/* Rows of "port" (EV) and "hop" (the spine switch's address), each EV once, sorted by switch and
 * EV. EVs whose switch is unknown are left out. Empty if a host is unknown. `question`: "from" and
 * "to", names of hosts. */
json_t *fleet_spine_paths(const struct hp3_fleet *f, const json_t *question);

/*
 * The HTTP server of hp3-fleet run, read only. / is a page without external resources (page.html),
 * and /state.json has the page's data. /metrics has the metrics in OpenMetrics.
 */

/* Returns 0, even if listen= is empty; or a negative errno after a message that names the fix. */
int fleet_http_start(struct fleet_planner *p);
void fleet_http_stop(void); /* harmless if not started */

/* page.html as a text (embed.py). */
extern const char fleet_page[];
