/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Internal state of the engine that the world reads, because no public function returns it in time:
 * the rate of a flow (cc = dcqcn), the path table's entry of a port, and the state of searches.
 */
#include "world_internal.h"

/* True: before now, the engine had recorded that the path of `port` has failed. */
bool world_is_failed(const struct world *w, uint32_t flow, uint16_t port);

/* Checks that no search continues after its move has ended (engine/search/search_state.h). */
void world_check_searches(struct world *w);
