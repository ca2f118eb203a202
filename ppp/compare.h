/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Compares several ports pairwise with the self-test (selftest.h). A burst sends a first probe on
 * each port, then a second probe on each port. The first probes of two ports show how much their
 * paths share. The two probes of one port show the noise. If no queue varies, there is no verdict.
 *
 * Units: nanoseconds.
 */
#include <stdint.h>
#include "ppp/selftest.h"

#define HP3_COMPARE_PORTS  8u
#define HP3_COMPARE_BURSTS HP3_SELFTEST_SAMPLES

struct hp3_compare_burst {
	uint32_t rtt[2][HP3_COMPARE_PORTS]; /* first and second probe of each port; 0: no answer */
	uint8_t marked[2]; /* bit i: the probe of port i was marked */
};

struct hp3_compare {
	uint16_t port[HP3_COMPARE_PORTS];
	uint8_t n; /* number of ports */
	uint8_t bursts;
	struct hp3_compare_burst burst[HP3_COMPARE_BURSTS];
};

/*
 * Finds ports that all take different paths, beginning with the first port. `chosen`: indexes of
 * the ports found. Returns the number of ports found. *tally: verdicts of all pairs.
 */
unsigned hp3_compare_distinct(const struct hp3_compare *c, uint8_t chosen[HP3_COMPARE_PORTS],
	struct hp3_selftest_tally *tally);
