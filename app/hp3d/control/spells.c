/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/spells.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

#define WAYS        4u /* of the hash table */
#define SILENCE_NS  60000000000ull /* ends a spell */
#define EVIDENCE_NS 10000000000ull /* no decision is based on older events */

int hp3d_spells_init(struct hp3d_spells *s, uint32_t n)
{
	s->n = WAYS;
	while (s->n < n)
		s->n *= 2;
	s->spell = calloc(s->n, sizeof(*s->spell));
	return s->spell ? 0 : -ENOMEM;
}

void hp3d_spells_free(struct hp3d_spells *s)
{
	free(s->spell);
	*s = (struct hp3d_spells){0};
}

struct hp3d_spell *hp3d_spell_of(struct hp3d_spells *s, unsigned rail, unsigned worker,
	uint32_t flow, uint32_t rqpn, bool add)
{
	uint64_t key = (uint64_t)(rail + 1) << 48 | (uint64_t)worker << 32 | flow, mixed = key;
	struct hp3d_spell *set, *oldest;

	mixed = hp3_random(&mixed);
	set = oldest = &s->spell[mixed % (s->n / WAYS) * WAYS];
	for (uint32_t i = 0; i < WAYS; i++) {
		if (set[i].key == key && set[i].rqpn == rqpn)
			return &set[i];
		if (set[i].t_ns < oldest->t_ns)
			oldest = &set[i];
	}
	if (!add)
		return NULL;
	memset(oldest, 0, sizeof(*oldest));
	oldest->key = key;
	oldest->rqpn = rqpn;
	return oldest;
}

/* Rounds about a dead path are no decisions, whatever their answers. */
bool hp3d_spell_decision(const struct hp3d_spell *spell, const struct hp3_event *event)
{
	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SEVERE:
		return false;
	case HP3_EVENT_ROUND:
		return event->cause != HP3_CAUSE_DEAD && event->outcome == HP3_ROUND_WINNER;
	case HP3_EVENT_RECOVER: /* without a hold and a better path: only the end of a round */
		return event->cause == HP3_CAUSE_ADVICE || /* the fleet agent waits for it */
		       event->reason != HP3_RFR_IN_NO_BETTER || event->drain_ns != 0 ||
		       (spell && spell->won);
	default:
		return true;
	}
}

static enum hp3d_spell_kind kind_of(const struct hp3_event *event)
{
	if (event->type == HP3_EVENT_ROUND)
		return HP3D_SPELL_ROUND;
	return event->type == HP3_EVENT_SEVERE ? HP3D_SPELL_SEVERE : HP3D_SPELL_OFF;
}

struct hp3d_kept *hp3d_spell_add(
	struct hp3d_spell *spell, const struct hp3d_event *e, uint64_t wall_ns, uint32_t *nth)
{
	enum hp3d_spell_kind kind = kind_of(&e->event);

	if (e->event.t_ns > spell->t_ns + SILENCE_NS)
		memset(spell->nth, 0, sizeof(spell->nth));
	spell->t_ns = e->event.t_ns;
	spell->fruitless[e->event.cause] += hp3_event_is_fruitless(&e->event);
	*nth = ++spell->nth[kind];
	if (*nth & (*nth - 1))
		*nth = 0; /* no sample */
	if (kind == HP3D_SPELL_OFF)
		return NULL;
	if (spell->n_last == HP3D_SPELL_LAST)
		memmove(spell->last, spell->last + 1, --spell->n_last * sizeof(spell->last[0]));
	spell->last[spell->n_last] = (struct hp3d_kept){.wall_ns = wall_ns, .e = *e};
	return &spell->last[spell->n_last++];
}

static bool is_about_paths(const struct hp3_event *event)
{
	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SWITCH:
	case HP3_EVENT_IDLE_SWITCH:
	case HP3_EVENT_RECOVER:
	case HP3_EVENT_ROUND:
	case HP3_EVENT_SUSPEND:
	case HP3_EVENT_FAILOVER:
	case HP3_EVENT_REPORT:
	case HP3_EVENT_WOULD:
		return event->cause != HP3_CAUSE_OPERATOR && event->cause != HP3_CAUSE_STOP;
	default:
		return false;
	}
}

bool hp3d_spell_rests_on(const struct hp3_event *decision, const struct hp3_event *event)
{
	return is_about_paths(decision) && decision->t_ns <= event->t_ns + EVIDENCE_NS &&
	       (decision->cause == HP3_CAUSE_DEAD) == (event->cause == HP3_CAUSE_DEAD);
}

void hp3d_spell_end(struct hp3d_spell *spell, const struct hp3_event *decision)
{
	spell->t_ns = decision->t_ns;
	spell->won = decision->type == HP3_EVENT_ROUND;
	memset(spell->nth, 0, sizeof(spell->nth));
	if (is_about_paths(decision))
		spell->n_last = 0;
}
