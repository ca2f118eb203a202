/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_ANNOUNCED_H
#define HP3_ENGINE_ANNOUNCED_H
/*
 * Announced flows: records that exist because of a message from a peer or a local process. Their
 * queue pair has sent nothing and is not paired. They take at most half of the table, and each
 * address pair has a quota (rule 11). If a queue pair of the local RNIC finds the table full, one
 * of them is dropped.
 */
#include "engine/state.h"

/* May one more be added for this address pair? */
bool hp3_announced_fits(
	const struct hp3_engine *e, const struct hp3_ends *ends, enum hp3_announcer who);
bool hp3_is_announced(const struct hp3_flow *f);
void hp3_announced_add(struct hp3_engine *e, uint32_t flow, enum hp3_announcer who);
/* The flow is removed, sends, or is paired. No effect on other flows. */
void hp3_announced_end(struct hp3_engine *e, uint32_t flow);
/*
 * An old announced flow that may be dropped; HP3_NO_FLOW: none. `alone`: the only flow of its
 * address pair, so the pair is freed, too.
 */
uint32_t hp3_announced_spare(const struct hp3_engine *e, bool alone);

#endif
