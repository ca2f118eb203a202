/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of errand_steps.h, and what its steps mean for the move. */
#include "engine/moves/moves.h"

static const struct hp3_errand_step steps[HP3_ERRAND_KIND_MAX][HP3_ERRAND_STATE_MAX]
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
	struct hp3_errand_step step = steps[kind][state][input];

	if (!step.known)
		step.next = (uint8_t)state;
	return step;
}

void hp3_errand_input(struct hp3_engine *e, struct hp3_move *m, enum hp3_errand_input input,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_errand_step step = hp3_errand_step(m->errand.kind, m->errand.state, input);

	m->errand.state = step.next;
	if (step.known && step.move == HP3_RFR_IN_NONE && input == HP3_ERRAND_IN_STAY)
		hp3_slot_drop(e, m->flow, HP3_USE_MOVE); /* nothing had begun */
	else if (step.move == HP3_RFR_IN_MOVE)
		hp3_move_start(e, m->flow, now, acts);
	else if (step.move != HP3_RFR_IN_NONE)
		hp3_move_input(e, m->flow, step.move, now, acts);
}
