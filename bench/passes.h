/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_PASSES_H
#define HP3_BENCH_PASSES_H
/* The timed passes over the packets of a belt, and the steps before and after them. */
#include "bench/belt.h"

/* Passes every packet of the belt through a stage once. */
typedef void pass_fn(struct belt *b, struct load *l);

pass_fn pass_bare, pass_parse, pass_engine, pass_pipeline;
/* As pass_pipeline(); then one ACK for each flow that holds packets, which releases them. */
pass_fn pass_hold;

/* Additional buffers, for packets that are not of a belt. 0 or a negative errno. */
#define PASS_BUFFERS (LOAD_HELD_MAX + LOAD_BURST)
int pass_init(struct rte_mempool *pool);
/* One of them, between passes. */
struct rte_mbuf *pass_spare(void);
/* Before a pass: makes packets the next ones of their flows, and peers' messages. */
void pass_prepare(struct belt *b, struct load *l, pass_fn *pass);
/* After a pass: puts all packets back in their places. */
void pass_settle(struct belt *b, struct load *l, pass_fn *pass);

#endif
