/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_WORLD_INSIDE_H
#define HP3_TESTS_WORLD_INSIDE_H
/*
 * What the world reads from inside the engine, because nothing outside shows it at the moment when
 * it counts: the rate of a flow (cc = dcqcn), what the path table says of a port, and how far
 * searches have come.
 */
#include "world_internal.h"

/* Was the path that `port` draws for this flow known to have failed before this moment? */
bool world_is_failed(const struct world *w, uint32_t flow, uint16_t port);

/* Nobody asks, or waits for an answer, whose move is over (engine/moves/search_state.h). */
void world_check_searches(struct world *w);

#endif
