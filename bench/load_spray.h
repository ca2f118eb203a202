/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_LOAD_SPRAY_H
#define HP3_BENCH_LOAD_SPRAY_H
/*
 * Sprayed queue pairs: LOAD_SPRAYS of the flows of a load, spread over its tables. SPRAYED: WRITEs
 * of the local RNIC, each with one of 64 EVs. RESEQUENCED: WRITEs of peers; every other one arrives
 * out of order, and is held until the missing one arrives, some 32 packets later. READ_SPRAYED,
 * READ_ORDERED: the same with READ responses, of the local RNIC and of peers.
 *
 * The peer's messages are made here, as there is no peer.
 */
#include <rte_common.h>
#include "bench/load.h"

#define LOAD_OUT_OF_ORDER                                                                          \
	32u /* packets that arrive out of order in a row; then the missing ones                    \
	     */

static inline uint32_t load_sprays(const struct load *l)
{
	return RTE_MIN(l->flows, LOAD_SPRAYS);
}

/* Flow number of the i-th. */
static inline uint32_t load_sprayed(const struct load *l, uint32_t i)
{
	return i * (l->flows / load_sprays(l));
}

void load_spray_config(struct hp3_config *cfg, enum load_mode mode);
/* Starts spraying, or resequencing, which lasts as long as load_messages() is called; `m`: a buffer
 * for messages. 0 or a negative errno. */
int load_agree(struct load *l, struct rte_mbuf *m);
/* Between two passes: advances time, and answers the engine's messages as the peers. */
void load_messages(struct load *l);
/* RESEQUENCED, READ_ORDERED: makes n packets, a multiple of 2 * LOAD_OUT_OF_ORDER, the next ones to
 * arrive; without the ICRC, which is not checked. */
void load_out_of_order(struct load *l, enum load_kind kind, struct rte_mbuf **m, uint32_t n);
/* ... packet m reached the RNIC. False: it is not the next one of its queue pair. */
bool load_in_order(struct load *l, const struct rte_mbuf *m);
/* As load_check(). */
const char *load_spray_check(const struct load *l);

#endif
