/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Events that are not decisions. There are three kinds: rounds of probes that found no better path,
 * severe congestion, and searches that ended without a move. A flow may have events of these kinds
 * for hours. A later decision may be based on them. For example, a failover is based on three
 * rounds in which the path in use lost its probe.
 *
 * So hp3d stores the latest HP3D_SPELL_LAST of these events per flow, and only counts older ones.
 * When a decision is based on stored events, the history (events.h) also gets these events.
 *
 * A spell is a series of events of these kinds, of one flow. From a spell, the history gets the
 * 1st, 2nd, 4th, 8th and so on event of each kind, as samples. A spell ends with a decision about
 * the flow, or after a minute without events of these kinds.
 *
 * The memory has a fixed size. If there is no room for a flow, hp3d replaces the record with the
 * oldest event in the flow's hash set. Control thread only.
 */
#include "app/hp3d/pipe/event.h"

#define HP3D_SPELL_LAST 6u

/* An event as hp3d stores it. */
struct hp3d_kept {
	uint64_t seq; /* number; 0: none yet */
	uint64_t sample; /* number of the same event among the samples; 0: not a sample */
	uint32_t nth; /* position of a sample in the spell, by kind; 0: not a sample */
	uint64_t wall_ns; /* its time, by the wall clock (app/record/record.h) */
	struct hp3d_event e;
};

enum hp3d_spell_kind { HP3D_SPELL_ROUND, HP3D_SPELL_SEVERE, HP3D_SPELL_OFF, HP3D_SPELL_KINDS };

struct hp3d_spell {
	uint64_t key; /* rail, worker, index of the flow there; 0: unused */
	uint32_t rqpn;
	bool won; /* the latest round found a better path; the result is not known yet */
	uint64_t t_ns; /* time of the latest event */
	uint32_t nth[HP3D_SPELL_KINDS]; /* events of this spell */
	uint64_t fruitless[HP3_CAUSE_MAX]; /* rounds without a better path, as counted here */
	uint32_t n_last; /* last[0 .. n_last - 1], oldest first */
	struct hp3d_kept last[HP3D_SPELL_LAST];
};

struct hp3d_spells {
	struct hp3d_spell *spell;
	uint32_t n;
};

/* Room for n flows at least. Returns 0 or -ENOMEM. */
int hp3d_spells_init(struct hp3d_spells *s, uint32_t n);
void hp3d_spells_free(struct hp3d_spells *s);

/* The record of this flow; NULL: none. `add`: makes one if there is none. */
struct hp3d_spell *hp3d_spell_of(struct hp3d_spells *s, unsigned rail, unsigned worker,
	uint32_t flow, uint32_t rqpn, bool add);

/* Is the event a decision? `spell` may be NULL. */
bool hp3d_spell_decision(const struct hp3d_spell *spell, const struct hp3_event *event);

/*
 * Counts an event that is not a decision. *nth is the event's position in the spell if the caller
 * has to make it a sample, otherwise 0. Returns the stored event, valid until the next call. NULL:
 * the event was not stored, because no decision can be based on it.
 */
struct hp3d_kept *hp3d_spell_add(
	struct hp3d_spell *spell, const struct hp3d_event *e, uint64_t wall_ns, uint32_t *nth);

/* Is the decision based on this stored event? */
bool hp3d_spell_rests_on(const struct hp3_event *decision, const struct hp3_event *event);
/* Ends the spell. The history already has the decision and the events that it is based on. */
void hp3d_spell_end(struct hp3d_spell *spell, const struct hp3_event *decision);
