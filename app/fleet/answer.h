/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_ANSWER_H
#define HP3_APP_FLEET_ANSWER_H
/*
 * Answers questions about the planner's state in JSON: for hp3-fleet's commands (over NATS), and
 * for its page. A question is an object. "ask": top, links, flows, hosts, alarms, plan, why,
 * spine_paths or page. "limit": rows, 1 to 1,000 (50 by default; top: at most 10). "flow" (why): a
 * part of a flow's name. "from", "to" (spine_paths): hosts. The answer has "ok": true, "planner",
 * "leads", "summary" and "rows"; or "ok": false, "error" and "fix".
 *
 * A flow's name is HOST/SOURCE-DESTINATION/0xQPN; a link's is LEAF>SWITCH (up) or SWITCH>LEAF
 * (down).
 */
#include <jansson.h>
#include "app/fleet/planner.h"

#define FLEET_ROWS_MAX 1000

/* Takes the planner's lock. Returns JSON text, which the caller frees; NULL: no memory. */
char *fleet_answer(struct fleet_planner *p, const char *question, size_t len);

#endif
