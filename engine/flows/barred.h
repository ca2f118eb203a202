/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Checks whether the filter (engine/filter.h) admits a flow, and whether its peer shares a key. The
 * engine makes this check before a move, probe, challenge, agreement or message, but not for
 * packets in steady state. It stores no result, so a reload applies at once.
 */
#include "engine/filter.h"
#include "engine/state.h"

bool hp3_pair_is_barred(const struct hp3_engine *e, const struct hp3_pair *p);
/* Does the peer share a key with this host, so that it accepts our messages? */
bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends);
/*
 * Which condition of the filter bars this flow? Precondition: the flow is in use. A flow that is
 * not paired matches no range of QPNs. A flow that has sent nothing matches no DSCP.
 */
enum hp3_bar hp3_flow_bar(const struct hp3_engine *e, const struct hp3_flow *f);
/* IP fragments from the local RNIC pin all flows of the pair to their ports (rule 17). */
static inline bool hp3_is_pinned(const struct hp3_pair *p, uint64_t now)
{
	return now < p->pinned_until;
}

/*
 * May the flow leave its port? The flow has to pass the filter, and its pair must not be pinned. No
 * flow may leave its port while the caller repeats hp3_missed().
 */
bool hp3_flow_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
