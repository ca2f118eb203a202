/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of errand_steps.h, compiled. start.c applies the resulting inputs to the move. */
#include "engine/moves/moves.h"

static const struct hp3_errand_step search_steps[HP3_ERRAND_KIND_MAX][HP3_ERRAND_STATE_MAX]
						[HP3_ERRAND_IN_MAX] = {
#define X(kind, state, input, to, wish)                                                            \
	[HP3_ERRAND_##kind][HP3_ERRAND_##state][HP3_ERRAND_IN_##input] = {                         \
		.known = true, .next = HP3_ERRAND_##to, .move = HP3_RFR_IN_##wish},
							HP3_ERRAND_STEPS(X)
#undef X
};

struct hp3_errand_step hp3_errand_step(
	enum hp3_errand_kind kind, enum hp3_errand_state state, enum hp3_errand_input input)
{
	struct hp3_errand_step step = search_steps[kind][state][input];

	if (!step.known)
		step.next = (uint8_t)state;
	return step;
}
