/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_PASSES_H
#define HP3_BENCH_PASSES_H
/* What is done to the packets of a belt while it is timed, and what else it takes before and after
 * that. */
#include "bench/belt.h"

/* Takes every packet of the belt through a stage once. */
typedef void pass_fn(struct belt *b, struct load *l);

pass_fn pass_bare, pass_parse, pass_engine, pass_pipeline;
/* As pass_pipeline(); then one ACK for each flow that holds packets, which releases them. */
pass_fn pass_hold;

/* Buffers for what packets of a belt are not enough for. 0 or a negative errno. */
#define PASS_BUFFERS (LOAD_HELD_MAX + LOAD_BURST)
int pass_init(struct rte_mempool *pool);
/* One of them, between passes. */
struct rte_mbuf *pass_spare(void);
/* Before a pass: packets are the next ones of their flows, peers have spoken. */
void pass_prepare(struct belt *b, struct load *l, pass_fn *pass);
/* After it: all packets are in their places again. */
void pass_settle(struct belt *b, struct load *l, pass_fn *pass);

#endif
