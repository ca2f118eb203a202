/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of search_steps.h, compiled. start.c applies the resulting inputs to the move. */
#include "engine/moves/moves.h"

static const struct hp3_search_step search_steps[HP3_SEARCH_KIND_MAX][HP3_SEARCH_STATE_MAX]
						[HP3_SEARCH_IN_MAX] = {
#define X(kind, state, input, to, wish)                                                            \
	[HP3_SEARCH_##kind][HP3_SEARCH_##state][HP3_SEARCH_IN_##input] = {                         \
		.known = true, .next = HP3_SEARCH_##to, .move = HP3_RFR_IN_##wish},
							HP3_SEARCH_STEPS(X)
#undef X
};

struct hp3_search_step hp3_search_step(
	enum hp3_search_kind kind, enum hp3_search_state state, enum hp3_search_input input)
{
	struct hp3_search_step step = search_steps[kind][state][input];

	if (!step.known)
		step.next = (uint8_t)state;
	return step;
}
