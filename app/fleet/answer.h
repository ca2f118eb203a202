/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_ANSWER_H
#define HP3_APP_FLEET_ANSWER_H
/*
 * What hp3-fleet knows, as JSON: for its own commands (over NATS), and for its page. A question is
 * an object: "ask" (top, links, flows, hosts, alarms, plan, why, page,
 * ways), "limit" (rows, 1 to 1,000),
 * "flow" (why: a part of a flow's name), "from" and "to" (ways: hosts). The answer has "ok",
 * "planner", "leads", and "rows" or "error" and "fix".
 *
 * A flow's name is HOST/SOURCE-DESTINATION/0xQPN, a link's LEAF>SWITCH up and SWITCH>LEAF down.
 */
#include <jansson.h>
#include "app/fleet/planner.h"

#define FLEET_ROWS_MAX 1000

/* Takes the planner's lock. Text to be freed, of JSON; NULL: no memory. */
char *fleet_answer(struct fleet_planner *p, const char *question, size_t len);

#endif
