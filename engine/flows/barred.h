/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_BARRED_H
#define HP3_ENGINE_BARRED_H
/*
 * What a filter (engine/filter.h) means for the flows of an engine. Asked where a flow is about to
 * be moved or asked about, never per packet; nothing is remembered, so a reload holds at once.
 */
#include "engine/filter.h"
#include "engine/state.h"

bool hp3_pair_is_barred(const struct hp3_engine *e, const struct hp3_pair *p);
/* Of a flow in use. One that is not paired fits no range of QPNs, one that has sent nothing yet no
 * DSCP. */
enum hp3_bar hp3_flow_bar(const struct hp3_engine *e, const struct hp3_flow *f);
/* Fragments of the local RNIC's keep all flows of the pair where they are (rule 17). */
static inline bool hp3_is_pinned(const struct hp3_pair *p, uint64_t now)
{
	return now < p->pinned_until;
}

/* Neither a filter nor fragments keep it where it is. */
bool hp3_flow_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);

#endif
