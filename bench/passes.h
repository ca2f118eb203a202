/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The timed passes over the packets of a belt, and the steps before and after them. */
#include "bench/belt.h"

/* Passes every packet of the belt through a stage once. */
typedef void pass_fn(struct belt *b, struct load *l);

pass_fn pass_bare, pass_parse, pass_engine, pass_pipeline;
/*
 * As pass_pipeline(). Afterwards, for each flow with held packets, one ACK arrives and releases
 * these packets.
 */
pass_fn pass_hold;

/* Allocates buffers for packets that are not on a belt. Returns 0 or a negative errno. */
#define PASS_BUFFERS (LOAD_HELD_MAX + LOAD_BURST)
int pass_init(struct rte_mempool *pool);
/* Returns one of the buffers of pass_init(), for use between passes. */
struct rte_mbuf *pass_spare(void);
/*
 * Call this before a pass. It makes each packet the next packet of a flow, and passes the peers'
 * messages to the engine.
 */
void pass_prepare(struct belt *b, struct load *l, pass_fn *pass);
/* Call this after a pass. It puts all packets back in their places on the belt. */
void pass_settle(struct belt *b, struct load *l, pass_fn *pass);
