/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_LOAD_SPRAY_H
#define HP3_BENCH_LOAD_SPRAY_H
/*
 * Queue pairs that take several paths at once, among many that do not: LOAD_SPRAYS of the flows of
 * a load, spread over its tables. SPRAYED: those of the local RNIC; each of their WRITEs leaves by
 * one of 64 EVs. RESEQUENCED: those of peers; every other of their WRITEs arrives out of order, is
 * held, and follows once the one before it has come, some 32 packets later. READ_SPRAYED,
 * READ_ORDERED: so, too, but with READ responses, of the local RNIC and of peers.
 *
 * The peer's messages are made here: nobody is there to say them.
 */
#include <rte_common.h>
#include "bench/load.h"

#define LOAD_OUT_OF_ORDER                                                                          \
	32u /* packets that arrive out of order, one behind the other; then the missing ones */

static inline uint32_t load_sprays(const struct load *l)
{
	return RTE_MIN(l->flows, LOAD_SPRAYS);
}

/* The i-th of them. */
static inline uint32_t load_sprayed(const struct load *l, uint32_t i)
{
	return i * (l->flows / load_sprays(l));
}

void load_spray_config(struct hp3_config *cfg, enum load_mode mode);
/* The flows are sprayed, or resequenced, from now on, as long as load_messages() is called; `m`: a
 * buffer to do so with. 0 or a negative errno. */
int load_agree(struct load *l, struct rte_mbuf *m);
/* Between two passes: time passes, and what the peers are asked they answer. */
void load_messages(struct load *l);
/* ORDERED, READ_ORDERED: makes n packets, a multiple of 2 * LOAD_OUT_OF_ORDER, the next ones to
 * arrive; but for the ICRC, at which nobody looks. */
void load_out_of_order(struct load *l, enum load_kind kind, struct rte_mbuf **m, uint32_t n);
/* ... what reached the RNIC. False: not what comes next of its queue pair. */
bool load_in_order(struct load *l, const struct rte_mbuf *m);
/* As load_check(). */
const char *load_spray_check(const struct load *l);

#endif
