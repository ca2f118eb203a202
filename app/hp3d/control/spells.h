/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_SPELLS_H
#define HP3D_SPELLS_H
/*
 * Looking around without finding anything: rounds of probes that end with no winner, congestion
 * that leads to none, searches called off. A flow may do so for hours, and none of it is a
 * decision, until one rests on it: three rounds that the port in use lost are the reason of a
 * failover.
 *
 * So per flow the latest few of these events are remembered, for the decision that may come, and
 * the others are counted. The first of a spell, and then every 2^k-th, is a sample to be kept. A
 * decision about the flow ends its spell, a minute of silence does, too.
 *
 * Memory is fixed: where flows are more than there is room for, the one that was silent longest is
 * forgotten. Control thread only.
 */
#include "app/hp3d/pipe/event.h"

#define HP3D_SPELL_LAST 6u

/* An event as it is kept. */
struct hp3d_kept {
	uint64_t seq; /* number; 0: none yet */
	uint64_t sample; /* number of the same event among the samples; 0: it is none */
	uint32_t nth; /* of the spell, if this is a sample; else 0 */
	uint64_t wall_ns; /* when it was, by the wall clock (app/record/wall.h) */
	struct hp3d_event e;
};

enum hp3d_spell_kind { HP3D_SPELL_ROUND, HP3D_SPELL_SEVERE, HP3D_SPELL_OFF, HP3D_SPELL_KINDS };

struct hp3d_spell {
	uint64_t key; /* rail, worker, index of the flow there; 0: unused */
	uint32_t rqpn;
	bool won; /* the latest round found a better path, what becomes of it is not known yet */
	uint64_t t_ns; /* of the latest event */
	uint32_t nth[HP3D_SPELL_KINDS]; /* events of this spell */
	uint64_t fruitless[HP3_CAUSE_MAX]; /* rounds, since the flow is remembered */
	uint32_t n_last; /* last[0 .. n_last - 1], oldest first */
	struct hp3d_kept last[HP3D_SPELL_LAST];
};

struct hp3d_spells {
	struct hp3d_spell *spell;
	uint32_t n;
};

/* Room for n flows at least. 0 or -ENOMEM. */
int hp3d_spells_init(struct hp3d_spells *s, uint32_t n);
void hp3d_spells_free(struct hp3d_spells *s);

/* Of this flow; NULL: nothing is remembered of it. `add`: then it is from now on. */
struct hp3d_spell *hp3d_spell_of(struct hp3d_spells *s, unsigned rail, unsigned worker,
	uint32_t flow, uint32_t rqpn, bool add);

/* Is the event a decision? `spell` may be NULL. */
bool hp3d_spell_decision(const struct hp3d_spell *spell, const struct hp3_event *event);

/*
 * An event that is no decision: counts it. Returns where it is remembered, for the caller to say
 * whether it became a sample (nth is set if it should), until the next call; NULL: it is nothing
 * that a decision could rest on, *nth says the same of it.
 */
struct hp3d_kept *hp3d_spell_add(
	struct hp3d_spell *spell, const struct hp3d_event *e, uint64_t wall_ns, uint32_t *nth);

/* Does the decision rest on what is remembered there? */
bool hp3d_spell_rests_on(const struct hp3_event *decision, const struct hp3_event *event);
/* A decision was kept, and what it rests on. */
void hp3d_spell_end(struct hp3d_spell *spell, const struct hp3_event *decision);

#endif
