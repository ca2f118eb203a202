/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Random packets of many queue pairs, as two RNICs would send them, and an engine that handles
 * them. Most packets are valid, so that they take the engine's steady path (the code for the usual
 * case). All depend only on the seed.
 */
#include "engine/engine.h"

#define ISA_SEED 20260711u
#define QPS      40u
#define FRAME    1200u /* longest frame */

extern uint32_t congestion; /* of 20 replies, how many are marked */

/* Restarts all queue pairs, each at a random PSN. */
void traffic_begin(uint64_t seed);
/* The next random number, below n. */
uint32_t draw(uint32_t n);

/* Writes the next request (sent) or reply (received) of queue pair i to `frame`. Returns its
 * length. */
uint32_t draw_request(uint8_t *frame, uint32_t i);
uint32_t draw_reply(uint8_t *frame, uint32_t i);
/* Randomly damages, truncates, pads or replaces a frame. Returns its new length. */
uint32_t damage(uint8_t *frame, uint32_t len);

/* Makes an engine that moves flows by command and, if `probing`, also by its own decisions. */
struct hp3_engine *make_engine(enum hp3_cc_mode cc, bool probing);
/* Passes the engine set-up events of most queue pairs. */
void announce(struct hp3_engine *e, uint64_t now);
/* Passes the engine a message from the hp3d of every peer. */
void greet(struct hp3_engine *e, uint64_t now);
