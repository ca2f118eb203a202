/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_ANNOUNCED_H
#define HP3_ENGINE_ANNOUNCED_H
/*
 * Announced flows: records that were made because a peer or a local process said so, and whose
 * queue pair has neither sent anything nor been paired yet. They have at most half of the table,
 * and each address pair a quota of it (rule 11). Where a queue pair of the local RNIC finds the
 * table full one of them is dropped.
 */
#include "engine/state.h"

/* May one more be made of this address pair? */
bool hp3_announced_fits(
	const struct hp3_engine *e, const struct hp3_ends *ends, enum hp3_announcer who);
bool hp3_is_announced(const struct hp3_flow *f);
void hp3_announced_add(struct hp3_engine *e, uint32_t flow, enum hp3_announcer who);
/* It is gone, sends or is paired. Harmless for others. */
void hp3_announced_end(struct hp3_engine *e, uint32_t flow);
/* An old one that may be dropped; `alone`: and its address pair with it. HP3_NO_FLOW: there is
 * none. */
uint32_t hp3_announced_spare(const struct hp3_engine *e, bool alone);

#endif
