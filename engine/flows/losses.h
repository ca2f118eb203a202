/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_LOSSES_H
#define HP3_ENGINE_LOSSES_H
/*
 * Records of flows that lost packets (struct hp3_losses): a small cache, since few do at a time.
 * Who has lost nothing for the longest time gives way.
 */
#include "engine/state.h"

/* The flow's record; NULL: it has none. */
struct hp3_losses *hp3_losses_find(const struct hp3_engine *e, uint32_t flow);
/* ... made if it has none. */
struct hp3_losses *hp3_losses_take(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* A path was found where it may lose less; it takes several tries to get there, perhaps. */
void hp3_losses_found(struct hp3_engine *e, uint32_t flow, uint16_t to);
/* The flow is gone, or another one of its number begins. */
void hp3_losses_forget(struct hp3_engine *e, uint32_t flow);

#endif
