/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Announced flows: flow records that exist because of a message from a peer or a local process.
 * Their queue pairs have sent nothing, and the flows are not paired. Announced flows take at most
 * half of the table, and each address pair has a quota of announced flows per source (rule 11). If
 * the table is full when a queue pair of the local RNIC needs a record, hp3d removes an announced
 * flow.
 */
#include "engine/state.h"

/* May one more announced flow be added for this address pair? */
bool hp3_announced_fits(
	const struct hp3_engine *e, const struct hp3_ends *ends, enum hp3_announcer who);
bool hp3_is_announced(const struct hp3_flow *f);
void hp3_announced_add(struct hp3_engine *e, uint32_t flow, enum hp3_announcer who);
/*
 * The flow is removed, sends, or is paired, so it is not announced any more. No effect on a flow
 * that is not announced.
 */
void hp3_announced_end(struct hp3_engine *e, uint32_t flow);
/*
 * An old announced flow that may be dropped; HP3_NO_FLOW: none. `alone`: the flow has to be the
 * only flow of its address pair, so that its removal also frees the pair.
 */
uint32_t hp3_announced_spare(const struct hp3_engine *e, bool alone);
