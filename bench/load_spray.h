/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Sprayed queue pairs: LOAD_SPRAYS of the flows of a load, spread evenly over the flow numbers. The
 * packets depend on the mode. SPRAYED: WRITE packets of the local RNIC, each with one of 64 EVs.
 * RESEQUENCED: WRITE packets of peers. Every other packet arrives out of order, and hp3d holds it
 * until the missing packet arrives, about 32 packets later. READ_SPRAYED: as SPRAYED, with READ
 * responses of the local RNIC. READ_ORDERED: as RESEQUENCED, with READ responses of peers.
 *
 * There are no peers, so load_spray.c makes the peers' messages.
 */
#include <rte_common.h>
#include "bench/load.h"

/* Packets in a row that arrive out of order; the missing packets follow. */
#define LOAD_OUT_OF_ORDER 32u

static inline uint32_t load_sprays(const struct load *l)
{
	return RTE_MIN(l->flows, LOAD_SPRAYS);
}

/* Flow number of the i-th sprayed flow. */
static inline uint32_t load_sprayed(const struct load *l, uint32_t i)
{
	return i * (l->flows / load_sprays(l));
}

void load_spray_config(struct hp3_config *cfg, enum load_mode mode);
/*
 * Starts spraying or resequencing. This continues while load_messages() is called regularly. `m`: a
 * buffer for messages. Returns 0 or a negative errno.
 */
int load_agree(struct load *l, struct rte_mbuf *m);
/*
 * Call this between two passes. It advances the time, and passes the peers' messages to the engine.
 */
void load_messages(struct load *l);
/*
 * For RESEQUENCED and READ_ORDERED: makes m[0..n-1] the next n packets to arrive; n is a multiple
 * of 2 * LOAD_OUT_OF_ORDER. The ICRC of these packets is wrong; nothing checks it.
 */
void load_out_of_order(struct load *l, enum load_kind kind, struct rte_mbuf **m, uint32_t n);
/*
 * Call this when packet m has reached the RNIC. False: m is not the next packet of its queue pair.
 */
bool load_in_order(struct load *l, const struct rte_mbuf *m);
/*
 * Checks that packets were sprayed, or held to be resequenced, as the mode requires. Returns as
 * load_check() does.
 */
const char *load_spray_check(const struct load *l);
