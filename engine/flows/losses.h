/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Records of flows that lost packets (struct hp3_losses). The records are a small cache, because
 * few flows lose packets at the same time. A new record replaces the record with the oldest loss.
 */
#include "engine/state.h"

/* The flow's record; NULL: none. */
struct hp3_losses *hp3_losses_find(const struct hp3_engine *e, uint32_t flow);
/* The flow's record, or a new record. */
struct hp3_losses *hp3_losses_take(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Stores port `to`, which may lose fewer packets. The move to it may take several tries. */
void hp3_losses_found(struct hp3_engine *e, uint32_t flow, uint16_t to);
/* Frees the record of a flow that is removed or begins a new epoch. */
void hp3_losses_forget(struct hp3_engine *e, uint32_t flow);
