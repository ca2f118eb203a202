/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_RESPONDER_RIG_H
#define HP3_TEST_RESPONDER_RIG_H
/* One responder of probes, `r`, with the limits of responder_rig.c, and probes that arrive there.
 */
#include "probe_frames.h"
#include "probes/responder.h"

#define CLOCK 1700000000u /* of both hosts, in seconds */
#define SEC   1000000000ull

extern struct hp3_responder_config cfg; /* change it, then call responder_anew() */
extern struct hp3_probe_stats st;
extern struct hp3_responder *r;
extern struct hp3_heard heard; /* which reports act */
extern void *mem; /* where it lies */
extern uint64_t now;

/* cmocka fixtures */
int responder_setup(void **state);
int responder_teardown(void **state);
#define RESPONDER_TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, responder_setup, responder_teardown)
/* A new responder with `cfg`; the counters go on. */
void responder_anew(void);

/* A probe of the n-th peer. */
void peer_probe(struct frame *f, uint32_t peer, uint32_t id, uint64_t time);
/* A probe arrives: its outcome. */
int take(const struct frame *f);
int take_at(const struct frame *f, uint64_t clock);

/* Checks that every probe is counted once, by its outcome. */
void expect_sum(void);

#endif
