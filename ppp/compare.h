/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_COMPARE_H
#define HP3_PPP_COMPARE_H
/*
 * Several ports held against each other by the self-test (selftest.h): bursts of two probes for
 * each port, all ports once, then all of them again. What two ports have in common is told by their
 * first probes, what noise hides by the two of one port. Without queues that come and go nothing is
 * told.
 *
 * Units: nanoseconds.
 */
#include <stdint.h>
#include "ppp/selftest.h"

#define HP3_COMPARE_PORTS  8u
#define HP3_COMPARE_BURSTS HP3_SELFTEST_SAMPLES

struct hp3_compare_burst {
	uint32_t rtt[2][HP3_COMPARE_PORTS]; /* first and second probes; 0: no answer */
	uint8_t marked[2]; /* bit i: of port i */
};

struct hp3_compare {
	uint16_t port[HP3_COMPARE_PORTS];
	uint8_t n; /* ports */
	uint8_t bursts;
	struct hp3_compare_burst burst[HP3_COMPARE_BURSTS];
};

/* Do ports i and j take different paths? Told only where it holds by the noise of both. */
struct hp3_selftest_report hp3_compare_two(const struct hp3_compare *c, unsigned i, unsigned j);

/* Ports of which each differs from all others, the first one among them: their numbers, and how
 * many. *tally: all pairs. */
unsigned hp3_compare_distinct(const struct hp3_compare *c, uint8_t chosen[HP3_COMPARE_PORTS],
	struct hp3_selftest_tally *tally);

#endif
