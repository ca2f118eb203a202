/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_LOAD_SPRAY_H
#define HP3_BENCH_LOAD_SPRAY_H
/*
 * Queue pairs that take several paths at once, among many that do not: LOAD_SPRAYS of the flows of
 * a load, spread over its tables. SPRAYED: those of the local RNIC; each of their WRITEs leaves by
 * one of 64 lanes. ORDERED: those of peers; every other of their WRITEs comes early, is held, and
 * follows once the one before it has come, some 32 packets later. READ_SPRAYED, READ_ORDERED: so,
 * too, but with READ responses, of the local RNIC and of peers.
 *
 * The peer's words are made here: nobody is there to say them.
 */
#include <rte_common.h>
#include "bench/load.h"

#define LOAD_EARLY 32u /* packets that come early, one behind the other; then those that lack */

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
/* The flows are sprayed, or put in order, from now on, as long as load_words() is called; `m`: a
 * buffer to do so with. 0 or a negative errno. */
int load_agree(struct load *l, struct rte_mbuf *m);
/* Between two passes: time passes, and what the peers are asked they answer. */
void load_words(struct load *l);
/* ORDERED, READ_ORDERED: makes n packets, a multiple of 2 * LOAD_EARLY, the next ones to arrive;
 * but for the ICRC, at which nobody looks. */
void load_early(struct load *l, enum load_kind kind, struct rte_mbuf **m, uint32_t n);
/* ... what reached the RNIC. False: not what comes next of its queue pair. */
bool load_in_order(struct load *l, const struct rte_mbuf *m);
/* As load_check(). */
const char *load_spray_check(const struct load *l);

#endif
