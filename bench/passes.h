/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The timed passes over the packets of a belt, and the steps before and after them. */
#include "bench/belt.h"

/* Passes every packet of the belt through a stage once. */
typedef void pass_fn(struct belt *b, struct load *l);

pass_fn pass_bare, pass_parse, pass_engine, pass_pipeline;
/* As pass_pipeline(). Then one ACK arrives for each flow that holds packets, which releases these
 * packets. */
pass_fn pass_hold;

/* Allocates buffers for packets that are not on a belt. Returns 0 or a negative errno. */
#define PASS_BUFFERS (LOAD_HELD_MAX + LOAD_BURST)
int pass_init(struct rte_mempool *pool);
/* Returns one of these buffers, for use between passes. */
struct rte_mbuf *pass_spare(void);
/* Call it before a pass: makes each packet the next packet of a flow, and sends peers' messages. */
void pass_prepare(struct belt *b, struct load *l, pass_fn *pass);
/* Call it after a pass: puts all packets back in their places on the belt. */
void pass_settle(struct belt *b, struct load *l, pass_fn *pass);
