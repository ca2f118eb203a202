/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d that kills itself (SIGKILL) in a state of a move in verbs mode: the one that HP3_DIE
 * names (verbs_killed). Linked in front of hp3d's own functions of these names (--wrap).
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/verbs/internal.h"

#define FLOWS 4096u /* more than these scenarios have */

void __real_hp3d_verbs_act(void *verbs, const struct hp3_act *act);
void __wrap_hp3d_verbs_act(void *verbs, const struct hp3_act *act);
int __real_hp3d_pipe_actuated(
	struct hp3d_pipe *p, uint32_t flow, enum hp3_actuator_report report, uint64_t now);
int __wrap_hp3d_pipe_actuated(
	struct hp3d_pipe *p, uint32_t flow, enum hp3_actuator_report report, uint64_t now);

static bool suspended[FLOWS];

static void die_if(const char *state)
{
	const char *wanted = getenv("HP3_DIE");

	if (wanted != NULL && strcmp(wanted, state) == 0)
		raise(SIGKILL);
}

void __wrap_hp3d_verbs_act(void *verbs, const struct hp3_act *act)
{
	bool was = suspended[act->flow % FLOWS];

	suspended[act->flow % FLOWS] = act->kind == HP3_ACT_SUSPEND;
	if (act->kind == HP3_ACT_SUSPEND)
		die_if("suspend"); /* the engine has begun, nobody was told */
	__real_hp3d_verbs_act(verbs, act);
	if (act->kind == HP3_ACT_SUSPEND)
		die_if("draining");
	else if (act->kind == HP3_ACT_RESUME)
		die_if("resuming");
	else if (was)
		die_if("moving");
	else
		die_if(act->op == HP3_MOVE_DEAD ? "leaving" : "placing");
}

int __wrap_hp3d_pipe_actuated(
	struct hp3d_pipe *p, uint32_t flow, enum hp3_actuator_report report, uint64_t now)
{
	if (report == HP3_ACTUATOR_DRAINED)
		die_if("drained"); /* the application waits for what comes next */
	else if (report == HP3_ACTUATOR_MOVED)
		die_if("moved"); /* it goes on, the engine does not know */
	return __real_hp3d_pipe_actuated(p, flow, report, now);
}
