/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_NEAR_H
#define HP3_ENGINE_NEAR_H
/*
 * Which flows of an address pair have sent near a PSN lately, so that a reply may be for them (rule
 * 15)? A hash table of PSN windows. An entry covers HP3_NEAR_PSNS PSNs of one pair. It records
 * which flow sent there last, and when another one did. It also records up to which PSN unpaired
 * flows came, except for the first of them. Look-ups and updates touch a fixed number of entries,
 * however many flows the pair has.
 *
 * Requests older than challenge_timeout_ns have been answered, or will not be. So entries expire
 * after that.
 *
 * Two keys with the same signature share an entry. A full set answers for all keys as if other
 * flows were there (stats.near_full). Both delay pairing and cannot make it wrong.
 *
 * The engine keeps the table while it has an unpaired flow, or while replies to unknown local QPNs
 * arrive. Otherwise, packets do not update it.
 */
#include "engine/state.h"

#define HP3_NEAR_PSNS 256u /* PSNs of an entry, aligned */
#define HP3_NEAR_WAYS 4u

/* Number of entries for this many flows, a power of two. */
uint32_t hp3_near_entries(uint32_t max_flows);
void hp3_near_init(struct hp3_engine *e, struct hp3_near *entries, uint32_t n);
/* _keep: updates the table from now on. _rest: stops that if no flow is unpaired any more. */
void hp3_near_keep(struct hp3_engine *e, uint64_t now);
void hp3_near_rest(struct hp3_engine *e, uint64_t now);
/* Does the table cover all that was sent within challenge_timeout_ns? */
bool hp3_near_is_whole(const struct hp3_engine *e, uint64_t now);
/* From then on, it does. */
uint64_t hp3_near_whole_at(const struct hp3_engine *e);

/* The flow sends this PSN now. Call it before the packet changes the flow's stream. */
void hp3_near_note(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/*
 * A queue pair of the pair without a record sends this PSN. Until `until`, other flows count as
 * near it.
 */
void hp3_near_note_untracked(
	struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now, uint64_t until);
/*
 * The flow's record is about to lose what it sent. Until `until`, its PSNs in flight are those of a
 * flow without a record. True: another flow was near one of them, or there are too many to check.
 */
bool hp3_near_abandon(struct hp3_engine *e, uint32_t flow, uint64_t now, uint64_t until);

/* Was another flow of the pair within HP3_NEAR_PSNS of this PSN? */
bool hp3_near_others(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* Has another unpaired flow of the pair sent this PSN? */
bool hp3_near_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* The flow of the pair that was last in the window of this PSN; HP3_NO_FLOW: unknown. */
uint32_t hp3_near_latest(const struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now);

#endif
