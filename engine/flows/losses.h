/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_LOSSES_H
#define HP3_ENGINE_LOSSES_H
/*
 * Records of flows that lost packets (struct hp3_losses). A small cache, because few flows lose
 * packets at the same time. It evicts the flow with the oldest loss.
 */
#include "engine/state.h"

/* The flow's record; NULL: none. */
struct hp3_losses *hp3_losses_find(const struct hp3_engine *e, uint32_t flow);
/* ... or a new one. */
struct hp3_losses *hp3_losses_take(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Port `to` may lose less. The move there may take several tries. */
void hp3_losses_found(struct hp3_engine *e, uint32_t flow, uint16_t to);
/* The flow is removed, or begins anew. */
void hp3_losses_forget(struct hp3_engine *e, uint32_t flow);

#endif
