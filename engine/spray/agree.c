/* SPDX-License-Identifier: BSD-3-Clause */
/* What the peer says about queue pairs that are sprayed, what time brings, and the end. */
#include "engine/spray/receive.h"
#include "engine/spray/send.h"
#include "engine/flows/keys.h"

#define ACTS_EACH 6u /* most that one call below adds */

/* From the last one down: what ends gives its place to the last. */
void hp3_spray_tick(struct hp3_turn *t)
{
	struct hp3_spraying *s = t->e->spraying;
	uint64_t due = UINT64_MAX;

	if (t->now < s->due && !s->changed)
		return;
	hp3_spray_look(t);
	for (uint32_t i = s->nout; i-- > 0;) {
		if (t->acts->n + ACTS_EACH > HP3_ACTS_MAX)
			goto more;
		due = hp3_min_u64(due, hp3_spray_out_tick(t, &s->out[s->outs[i]]));
	}
	for (uint32_t i = t->e->nspray_in; i-- > 0;) {
		if (t->acts->n + ACTS_EACH > HP3_ACTS_MAX)
			goto more;
		due = hp3_min_u64(due, hp3_spray_in_tick(t, &s->in[s->ins[i]]));
	}
	s->due = due;
	s->changed = false;
	return;
more:
	t->acts->more = true;
}

static uint64_t out_until(const struct hp3_spray_out *o, uint64_t now)
{
	bool ends = o->state == HP3_SPRAY_NARROW || o->state == HP3_SPRAY_ENDING;

	return (ends ? o->narrowed : now) + HP3_SPRAY_BOUND * hp3_out_beat(o);
}

static uint64_t in_until(const struct hp3_spray_in *in, uint64_t now)
{
	return (in->refused ? in->refused_at : now) + hp3_in_lease(in);
}

uint64_t hp3_spray_stop(struct hp3_engine *e, uint64_t now)
{
	struct hp3_spraying *s = e->spraying;
	uint64_t until = 0;

	if (s == NULL)
		return 0;
	s->ending = s->changed = true;
	for (uint32_t i = 0; i < s->nout; i++)
		until = hp3_max_u64(until, out_until(&s->out[s->outs[i]], now));
	for (uint32_t i = 0; i < e->nspray_in; i++)
		until = hp3_max_u64(until, in_until(&s->in[s->ins[i]], now));
	return until;
}

void hp3_spray_go_on(struct hp3_engine *e)
{
	if (e->spraying != NULL)
		e->spraying->ending = false;
}

bool hp3_spray_abandon(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	struct hp3_spraying *s = e->spraying;

	if (s == NULL || (s->nout == 0 && e->nspray_in == 0))
		return false;
	if (e->nspray_in != 0) {
		struct hp3_spray_in *in = &s->in[s->ins[e->nspray_in - 1]];

		hp3_spray_say_in(&t, in, HP3_AGREE_NO, 0);
		hp3_spray_in_end(&t, in, false);
	} else {
		hp3_spray_gone(&t, s->out[s->outs[s->nout - 1]].flow, false);
	}
	return true;
}
