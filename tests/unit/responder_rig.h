/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* One responder of probes, `r`, with the limits in responder_rig.c, and functions that pass it
 * probes.
 */
#include "probe_frames.h"
#include "probes/responder.h"

#define CLOCK 1700000000u /* of both hosts, in seconds */
#define SEC   1000000000ull

extern struct hp3_responder_config cfg; /* change it, then call responder_anew() */
extern struct hp3_probe_stats st;
extern struct hp3_responder *r;
extern struct hp3_heard heard; /* which reports are accepted */
extern void *mem; /* memory of `r` */
extern uint64_t now;
#define AT_NOW (&(const struct hp3_times){CLOCK, now})

/* cmocka fixtures */
int responder_setup(void **state);
int responder_teardown(void **state);
#define RESPONDER_TEST(name)                                                                       \
	cmocka_unit_test_setup_teardown(name, responder_setup, responder_teardown)
/* Replaces `r` by a new responder with `cfg`; the counters `st` continue. */
void responder_anew(void);

/* Makes a probe of the peer with this number. */
void peer_probe(struct frame *f, uint32_t peer, uint32_t id, uint64_t time);
/* Passes the probe to `r`, and returns the outcome. */
int take(const struct frame *f);
int take_at(const struct frame *f, uint64_t clock);

/* Checks that every probe is counted once, by its outcome. */
void expect_sum(void);
