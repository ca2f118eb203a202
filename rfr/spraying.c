/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/spraying.h"
#include <stdbool.h>
#include "base/names.h"

static const struct {
	bool known;
	struct hp3_spray_step step;
} spray_steps[HP3_SPRAY_STATE_MAX][HP3_SPRAY_IN_MAX] = {
#define X(state, input, next, action)                                                              \
	[HP3_SPRAY_##state][HP3_SPRAY_IN_##input] = {                                              \
		true, {HP3_SPRAY_##next, HP3_SPRAY_DO_##action}},
	HP3_SPRAY_TRANSITIONS(X)
#undef X
};

struct hp3_spray_step hp3_spray_step(enum hp3_spray_state state, enum hp3_spray_input input)
{
	if (spray_steps[state][input].known)
		return spray_steps[state][input].step;
	return (struct hp3_spray_step){(uint8_t)state, HP3_SPRAY_DO_NONE};
}

const char *hp3_spray_state_name(enum hp3_spray_state s)
{
	static const char *const names[] = {HP3_SPRAY_STATES(HP3_NAME_TEXT)};

	return HP3_NAME(names, s);
}
