/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of agreements, and the end of all agreements. */
#include "engine/spray/receive.h"
#include "engine/spray/send.h"

#define ACTS_EACH 6u /* most that one call below adds */
/* One call visits at most RECORDS records, and stops after PACKETS held packets have left. */
#define RECORDS HP3_SPRAY_ENDED
#define PACKETS 512u
#define CHANGED 128u /* ... or makes this many due */

static uint64_t out_until(const struct hp3_spray_out *o, uint64_t now)
{
	bool ends = o->state == HP3_SPRAY_NARROW || o->state == HP3_SPRAY_ENDING;

	return (ends ? o->narrowed : now) + HP3_SPRAY_BOUND * hp3_out_keepalive_ns(o);
}

static uint64_t in_until(const struct hp3_spray_in *in, uint64_t now)
{
	uint64_t lease = hp3_in_lease(in);

	if (!in->refused)
		return now + lease;
	/* The sender may have stated a shorter interval since, with packets in flight. */
	return in->refused_at + hp3_max_u64(lease, in->refused_lease);
}

/* Handles the deadlines of one record and sets the next one, which is later than now. */
static void record_tick(struct hp3_turn *t, uint32_t item)
{
	struct hp3_spraying *s = t->e->spraying;
	uint32_t flows = t->e->cfg.spray.flows;
	uint64_t due;

	if (item < flows)
		hp3_spray_look_at_end(t, s->out[item].flow);
	else if (s->in[item - flows].reads && s->in[item - flows].flow != HP3_NO_FLOW)
		hp3_spray_look_at_end(t, s->in[item - flows].flow);
	if (item < flows) {
		due = hp3_spray_out_tick(t, &s->out[item]);
		if (s->ending && due != UINT64_MAX)
			s->until = hp3_max_u64(s->until, out_until(&s->out[item], t->now));
	} else {
		hp3_in_look(t, &s->in[item - flows]);
		due = hp3_spray_in_tick(t, &s->in[item - flows]);
		if (s->ending && due != UINT64_MAX)
			s->until = hp3_max_u64(s->until, in_until(&s->in[item - flows], t->now));
		s->in[item - flows].due = hp3_max_u64(due, t->now + 1);
	}
	hp3_deadline_set(&s->deadlines, item, hp3_max_u64(due, t->now + 1));
}

static bool is_changed(const struct hp3_spraying *s)
{
	return s->changed_outs != 0 || s->changed_ins != 0;
}

/* After a change of the policy: makes a part of the agreements due. */
static void some_due(struct hp3_turn *t)
{
	struct hp3_spraying *s = t->e->spraying;

	s->changed_at = t->now;
	s->changed_outs = hp3_min_u32(s->changed_outs, s->nout);
	s->changed_ins = hp3_min_u32(s->changed_ins, t->e->nspray_in);
	for (uint32_t n = 0; n < CHANGED && is_changed(s); n++) {
		if (s->changed_outs != 0)
			hp3_out_wake(t->e, &s->out[s->outs[--s->changed_outs]], t->now);
		else
			hp3_in_wake(t->e, &s->in[s->ins[--s->changed_ins]], t->now);
	}
}

void hp3_spray_tick(struct hp3_turn *t)
{
	struct hp3_spraying *s = t->e->spraying;
	uint32_t held = t->e->hold_packets;

	s->nended = 0;
	if (t->now < hp3_spray_due(t->e) && !is_changed(s))
		return;
	hp3_spray_look(t);
	if (is_changed(s)) {
		some_due(t);
		t->acts->more = is_changed(s);
		if (t->acts->more)
			return;
	}
	for (uint32_t n = 0; hp3_spray_due(t->e) <= t->now; n++) {
		if (t->acts->n + ACTS_EACH > HP3_ACTS_MAX || n == RECORDS ||
			t->e->hold_packets + PACKETS <= held) {
			t->acts->more = true;
			return;
		}
		record_tick(t, hp3_deadline_item(&s->deadlines));
	}
}

/* Has hp3_tick() visited all agreements since they became due? */
static bool all_were_told(const struct hp3_engine *e)
{
	return !is_changed(e->spraying) && hp3_spray_due(e) > e->spraying->changed_at;
}

uint64_t hp3_spray_stop(struct hp3_engine *e, uint64_t now)
{
	struct hp3_spraying *s = e->spraying;

	if (s == NULL)
		return 0;
	if (!s->ending) {
		s->ending = true;
		s->until = 0;
		hp3_spray_look_at_all(e);
	}
	if (s->nout + e->nspray_in == 0)
		return 0;
	return all_were_told(e) ? s->until : now + HP3_SPRAY_BOUND * HP3_SPRAY_KEEPALIVE_MAX;
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

		hp3_spray_send_msg_in(&t, in, HP3_AGREE_NO, 0);
		hp3_spray_in_end(&t, in, false);
	} else {
		hp3_spray_gone(&t, s->out[s->outs[s->nout - 1]].flow);
	}
	return true;
}
