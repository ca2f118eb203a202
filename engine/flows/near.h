/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the flows of an address pair that have recently sent near a PSN. A reply with this PSN may
 * be for any of these flows (rule 15). The flows are in a hash table of PSN windows: an entry
 * covers HP3_NEAR_PSNS PSNs of one pair. The entry has the flow that last sent in its window, and
 * the time when another flow last sent there. The entry also has the leader, which is the unpaired
 * flow that sent the highest PSN of the window. For the other unpaired flows, the entry has the
 * highest PSN that they sent. Look-ups and updates touch a fixed number of entries, however many
 * flows the pair has.
 *
 * Entries expire after challenge_timeout_ns: by then, a request has been answered, or will never be
 * answered.
 *
 * Two keys with the same signature share an entry. For keys without a place in a full hash set, the
 * table answers as if other flows were near (stats.near_full). Both cases delay pairing, but cannot
 * cause a wrong pairing.
 *
 * The engine updates the table while a flow is unpaired, or while the engine has no flow. It also
 * updates the table for a while after each of these packets: a request of a queue pair without a
 * record, a reply to an unknown local QPN, a reply that contradicts a pairing.
 */
#include "engine/state.h"

#define HP3_NEAR_PSNS 256u /* PSNs of an entry, aligned */
#define HP3_NEAR_WAYS 4u

/*
 * _keep: the engine updates the table from now on. _rest, called periodically: the engine stops
 * updating the table some time after the last _keep, if no flow is unpaired.
 */
void hp3_near_keep(struct hp3_engine *e, uint64_t now);
void hp3_near_rest(struct hp3_engine *e, uint64_t now);
/* Does the table cover all packets that were sent within the last challenge_timeout_ns? */
bool hp3_near_is_whole(const struct hp3_engine *e, uint64_t now);
/* The time from which hp3_near_is_whole() is true. */
uint64_t hp3_near_whole_at(const struct hp3_engine *e);

/* The flow sends this PSN now. Call it before the packet changes the flow's stream. */
void hp3_near_note(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/*
 * A queue pair that has no flow record sends this PSN, between the addresses of `pair`. Until
 * `until`, other flows count as near this PSN.
 */
void hp3_near_note_untracked(
	struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now, uint64_t until);
/*
 * The flow's record is about to forget the packets in flight. Until `until`, their PSNs count as
 * sent by a queue pair without a record. True: another flow was near one of these PSNs, or the PSNs
 * are too many to check.
 */
bool hp3_near_abandon(struct hp3_engine *e, uint32_t flow, uint64_t now, uint64_t until);

/* Did another flow of the pair send in the window of this PSN, or in a neighbouring window? */
bool hp3_near_others(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* Does one of these windows have no place in the table, so that other flows count as near? */
bool hp3_near_is_full(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* Has another unpaired flow of the pair sent this PSN? */
bool hp3_near_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* The flow of the pair that last sent in the window of this PSN; HP3_NO_FLOW: unknown. */
uint32_t hp3_near_latest(const struct hp3_engine *e, uint32_t pair, uint32_t psn, uint64_t now);
