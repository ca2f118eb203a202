/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_NEAR_H
#define HP3_ENGINE_NEAR_H
/*
 * Which flows of an address pair were at a PSN lately, and may be answered with it (rule 15)? A
 * hash table of PSN windows: an entry stands for HP3_NEAR_PSNS PSNs of one pair and knows which
 * flow sent there last, when another one did, and how far the unpaired flows came, the first of
 * them left out. Look-ups and notes touch a fixed number of entries, however many flows the pair
 * has.
 *
 * What a flow sent longer ago than challenge_timeout_ns has been answered, or will not be: entries
 * are that old at most.
 *
 * Two keys with the same signature share an entry; a set without room answers for all keys as if
 * other flows were there (stats.near_full). Both delay pairing and cannot make it wrong.
 *
 * The table is kept while any flow of the engine is unpaired, or replies to queue pairs that no
 * flow claims arrive. Else a packet costs nothing here.
 */
#include "engine/state.h"

#define HP3_NEAR_PSNS 256u /* of an entry, aligned */
#define HP3_NEAR_WAYS 4u

/* Entries for so many flows, a power of two. */
uint32_t hp3_near_entries(uint32_t max_flows);
void hp3_near_init(struct hp3_engine *e, struct hp3_near *entries, uint32_t n);
/* Notes have a reason from now on, until no flow is unpaired and hp3_near_rest() is called. */
void hp3_near_keep(struct hp3_engine *e, uint64_t now);
void hp3_near_rest(struct hp3_engine *e, uint64_t now);
/* Entries tell of all that was sent within challenge_timeout_ns. */
bool hp3_near_is_whole(const struct hp3_engine *e, uint64_t now);
/* They will, from then on. */
uint64_t hp3_near_whole_at(const struct hp3_engine *e);

/* The flow sends this PSN now. Call it before the packet changes the flow's stream. */
void hp3_near_note(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* A queue pair of the pair that has no record sends this PSN: until `until` others are near it. */
void hp3_near_note_untracked(
	struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now, uint64_t until);
/*
 * The flow's record is about to forget what it sent: until `until` its PSNs in flight are those of
 * a flow without a record. True if another flow was at one of them, or if there are too many to
 * say.
 */
bool hp3_near_abandon(struct hp3_engine *e, uint32_t flow, uint64_t now, uint64_t until);

/* Was another flow of the pair within HP3_NEAR_PSNS of this PSN? */
bool hp3_near_others(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* Has another flow of the pair that is not paired sent this PSN? */
bool hp3_near_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* The flow of the pair that was in the window of this PSN last; HP3_NO_FLOW: none is known. */
uint32_t hp3_near_latest(const struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now);

#endif
