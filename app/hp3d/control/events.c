/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/events.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/control/event_json.h"
#include "config/bonds.h"

#define SAMPLES_SHARE 4u /* one sample per this many decisions that are kept */
#define FLOWS_SHARE   8u /* one flow's spell per this many */
#define LEAST         16u
#define LOOKED_MAX    65536u /* for one page: bounds the delay of other clients */

/* Entries in the order of their numbers; entry i (0, 1, ...) is at[i % cap]. */
struct ring {
	struct hp3d_kept *at;
	uint64_t n; /* so far */
	uint32_t cap;
};

static struct {
	const struct hp3_config *cfg;
	struct ring decisions, samples;
	struct hp3d_spells spells;
	uint64_t last;
} kept;

static int ring_init(struct ring *r, uint32_t cap)
{
	*r = (struct ring){.at = calloc(cap, sizeof(*r->at)), .cap = cap};
	return r->at ? 0 : -ENOMEM;
}

static uint32_t share_of_kept(uint32_t n, uint32_t of)
{
	return n / of < LEAST ? LEAST : n / of;
}

int hp3d_events_init(const struct hp3_config *cfg, uint32_t n)
{
	kept.cfg = cfg;
	kept.last = 0;
	if (ring_init(&kept.decisions, n) == 0 &&
		ring_init(&kept.samples, share_of_kept(n, SAMPLES_SHARE)) == 0 &&
		hp3d_spells_init(&kept.spells, share_of_kept(n, FLOWS_SHARE)) == 0)
		return 0;
	hp3d_events_free();
	return -ENOMEM;
}

void hp3d_events_free(void)
{
	free(kept.decisions.at);
	free(kept.samples.at);
	hp3d_spells_free(&kept.spells);
	memset(&kept, 0, sizeof(kept));
}

static uint64_t oldest_index(const struct ring *r)
{
	return r->n > r->cap ? r->n - r->cap : 0;
}

static const struct hp3d_kept *slot_of_index(const struct ring *r, uint64_t i)
{
	return &r->at[i % r->cap];
}

static const struct hp3d_kept *find_entry(const struct ring *r, uint64_t i)
{
	return i < r->n ? slot_of_index(r, i) : NULL;
}

/* The first entry with a number above `seq`. */
static uint64_t index_after(const struct ring *r, uint64_t seq)
{
	uint64_t low = oldest_index(r), high = r->n;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (slot_of_index(r, mid)->seq <= seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A verdict has its engine's id of the move; this finds the number of the move, if it is still
 * kept. */
static uint64_t ref_of(const struct hp3d_kept *k)
{
	const struct ring *r = &kept.decisions;

	if (k->e.event.type != HP3_EVENT_OUTCOME)
		return 0;
	for (uint64_t i = index_after(r, k->seq - 1); i-- > oldest_index(r);) {
		const struct hp3d_kept *m = slot_of_index(r, i);

		if (m->e.rail == k->e.rail && m->e.worker == k->e.worker &&
			m->e.event.id == k->e.event.ref)
			return m->seq;
	}
	return 0;
}

static const struct hp3d_kept *put_event(struct ring *r, const struct hp3d_kept *k)
{
	struct hp3d_kept *at = &r->at[r->n++ % r->cap];

	*at = *k;
	at->seq = ++kept.last;
	return at;
}

static void put_decision(const struct hp3d_kept *k)
{
	const struct hp3d_kept *at = put_event(&kept.decisions, k);

	hp3d_record_decision(kept.cfg, at, ref_of(at));
}

/* The events that the decision is based on get their numbers now, for readers that continue. */
static void put_spell_decision(struct hp3d_spell *spell, const struct hp3d_kept *decision)
{
	const struct hp3_event *event = &decision->e.event;

	for (uint32_t i = 0; spell && i < spell->n_last; i++) {
		if (hp3d_spell_rests_on(event, &spell->last[i].e.event))
			put_decision(&spell->last[i]);
	}
	put_decision(decision);
	if (spell)
		hp3d_spell_end(spell, event);
}

void hp3d_events_add(const struct hp3d_event *e, uint64_t wall_ns)
{
	struct hp3d_kept now = {.wall_ns = wall_ns, .e = *e};
	struct hp3d_spell *spell;
	struct hp3d_kept *k;
	uint64_t sample;
	bool opens =
		e->event.type == HP3_EVENT_ROUND || e->event.type == HP3_EVENT_SEVERE ||
		(e->event.type == HP3_EVENT_RECOVER && e->event.reason == HP3_RFR_IN_NO_BETTER);

	if (kept.cfg == NULL)
		return; /* stopping after a failed start */
	spell = hp3d_spell_of(
		&kept.spells, e->rail, e->worker, e->event.flow, e->event.rqpn, opens);
	if (hp3d_spell_decision(spell, &e->event)) {
		put_spell_decision(spell, &now);
		return;
	}
	k = hp3d_spell_add(spell, e, wall_ns, &now.nth);
	sample = now.nth ? put_event(&kept.samples, &now)->seq : 0;
	if (k)
		k->sample = sample;
}

uint64_t hp3d_events_last(void)
{
	return kept.last;
}

json_t *hp3d_events_fruitless(unsigned rail, unsigned worker, const struct hp3_flow_info *f)
{
	const struct hp3d_spell *s =
		hp3d_spell_of(&kept.spells, rail, worker, f->flow, f->rqpn, false);
	json_t *j = json_object();

	for (unsigned i = 0; s && i < HP3_CAUSE_MAX; i++)
		if (s->fruitless[i])
			json_object_set_new(j, hp3_cause_name((enum hp3_cause)i),
				json_integer((json_int_t)s->fruitless[i]));
	return j;
}

/* --- pages --- */

/* The samples still have the same event, with its first number. */
static bool is_sampled(const struct hp3d_kept *k)
{
	const struct hp3d_kept *first = find_entry(&kept.samples, oldest_index(&kept.samples));

	return k->sample != 0 && first && first->seq <= k->sample;
}

static bool is_of(const struct hp3d_kept *k, const struct hp3_flowid *id)
{
	const struct hp3_flow_info *f = &k->e.flow;

	return f->rqpn == id->rqpn && f->vlan == id->vlan && f->ipv6 == id->ipv6 &&
	       memcmp(f->local, id->local, sizeof(id->local)) == 0 &&
	       memcmp(f->remote, id->remote, sizeof(id->remote)) == 0 &&
	       strcmp(hp3_config_flows_name(kept.cfg, k->e.rail), id->rail) == 0;
}

static bool is_wanted(const struct hp3d_kept *k, const struct hp3d_events_wanted *w)
{
	return (w->types == 0 || (w->types >> k->e.event.type & 1)) &&
	       (!w->flow || is_of(k, w->flow));
}

json_t *hp3d_events_page(
	uint64_t since, unsigned limit, const struct hp3d_events_wanted *wanted, uint64_t *next)
{
	bool all = wanted->all;
	unsigned looked = 0;
	uint64_t d, s;
	json_t *list = json_array();

	*next = since < kept.last ? since : kept.last; /* greater: from an earlier hp3d */
	d = index_after(&kept.decisions, *next);
	s = all ? index_after(&kept.samples, *next) : kept.samples.n;
	while (list && limit && looked++ < LOOKED_MAX) {
		const struct hp3d_kept *a = find_entry(&kept.decisions, d),
				       *b = find_entry(&kept.samples, s);
		bool decision = a && (!b || a->seq < b->seq);
		const struct hp3d_kept *k = decision ? a : b;

		if (!k) {
			*next = kept.last;
			break;
		}
		*next = k->seq;
		if (decision)
			d++;
		else
			s++;
		if (decision && all && is_sampled(k))
			continue;
		if (!is_wanted(k, wanted))
			continue;
		json_array_append_new(list, hp3d_event_json(kept.cfg, k, ref_of(k)));
		limit--;
	}
	return list;
}
