/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_ISA_TRAFFIC_H
#define HP3_TEST_ISA_TRAFFIC_H
/*
 * Random packets of many queue pairs, as two RNICs would send them, and an engine that handles
 * them. Most are valid, so that they take the steady path; all depend on the seed only.
 */
#include "engine/engine.h"

#define ISA_SEED 20260711u
#define QPS      40u
#define FRAME    1200u /* none is longer */

extern uint32_t congestion; /* marked replies, of 20 */

/* All queue pairs begin anew, at any PSN. */
void traffic_begin(uint64_t seed);
/* The next random number, below n. */
uint32_t draw(uint32_t n);

/* The next packet of queue pair i, out or in: its length. */
uint32_t draw_request(uint8_t *frame, uint32_t i);
uint32_t draw_reply(uint8_t *frame, uint32_t i);
/* At random, damages, cuts, pads or replaces a frame: its new length. */
uint32_t damage(uint8_t *frame, uint32_t len);

/* An engine that moves flows by command; if `probing`, also by itself. */
struct hp3_engine *make_engine(enum hp3_cc_mode cc, bool probing);
/* Set-up events of most queue pairs. */
void announce(struct hp3_engine *e, uint64_t now);
/* The hp3d of every peer sends a message. */
void greet(struct hp3_engine *e, uint64_t now);

#endif
