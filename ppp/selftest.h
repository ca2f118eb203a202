/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Tests by probes whether two ports really take different paths. A tunnel may hide the port, or a
 * switch may hash only addresses, or also the QPN. So hp3 measures.
 *
 * Two probes leave back to back, first on port a, then on port b. If both ports pass the same
 * queues, the RTTs of the two probes rise and fall together over many pairs. The same is true for
 * their congestion marks. The measure is Kendall's rank correlation over the pairs of samples
 * (Goodman-Kruskal gamma, in permille, marks and RTTs together). The measure uses ranks, so that
 * one scheduling delay does not decide.
 *
 * A high correlation alone proves little. A low correlation proves nothing if each probe has noise
 * of its own. So pairs of probes on *one* port are the control:
 *
 *     control low or flat      -> UNKNOWN    the noise hides the queues, or there is no congestion
 *     control high, pair high  -> SAME       they share the hop where queues vary
 *     control high, pair low   -> DIFFERENT
 *     otherwise                -> UNKNOWN
 *
 * Pairs and controls alternate, several RTTs apart, so that samples are independent, and both
 * series cover the same time.
 *
 * SAME may also mean that only the shared last hop is congested: the verdict is about where queues
 * are now. With QPNs a and b instead of ports, the same test shows whether switches hash the QPN
 * (rule 18). If they do, path tables are also keyed by the QPN.
 *
 * Units: nanoseconds; correlation in permille, -1000 .. 1000.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_SELFTEST_SAMPLES 64u /* stored per series; a new sample overwrites the oldest */
#define HP3_SELFTEST_MIN     24u /* no verdict with fewer samples */

enum hp3_selftest_verdict {
	HP3_SELFTEST_UNKNOWN,
	HP3_SELFTEST_SAME,
	HP3_SELFTEST_DIFFERENT,
};

/* Two probes sent back to back, in the order in which they left. */
struct hp3_selftest_sample {
	uint32_t rtt[2]; /* ns */
	bool mark[2];
};

struct hp3_selftest_series {
	struct hp3_selftest_sample sample[HP3_SELFTEST_SAMPLES];
	uint32_t added; /* number of samples so far */
};

struct hp3_selftest {
	struct hp3_selftest_series pair; /* port a, then port b */
	struct hp3_selftest_series control; /* port a, then port a again */
	uint32_t resolution; /* ns: RTTs that differ by no more than this are equal */
};

struct hp3_selftest_report {
	uint8_t verdict; /* enum hp3_selftest_verdict */
	int16_t correlation, control; /* permille; 0 if `informative` is 0 */
	uint16_t samples, control_samples;
	/* Pairs of samples with an order on both ports, in permille of all pairs. Near 0: the
	 * network is idle, so there is nothing to compare. */
	uint16_t informative, control_informative;
};

void hp3_selftest_init(struct hp3_selftest *t, uint32_t resolution_ns);

/* Adds a pair of probes that were both answered. The caller leaves out all other pairs. */
void hp3_selftest_add(struct hp3_selftest_series *s, const struct hp3_selftest_sample *sample);

struct hp3_selftest_report hp3_selftest_report(const struct hp3_selftest *t);

/*
 * Combines verdicts on several pairs of ports, or of QPNs. A few percent of the verdicts are
 * DIFFERENT by chance, so SPREAD needs two of them. With n >= 2 paths, two random ports take the
 * same path with probability 1/2 at most. So HP3_TALLY_SAME verdicts SAME without any DIFFERENT
 * give NO_SPREAD. All other results give UNKNOWN.
 */
#define HP3_TALLY_SAME      10u
#define HP3_TALLY_DIFFERENT 2u

struct hp3_selftest_tally {
	uint16_t same, different, unknown;
};

enum hp3_tally_verdict { HP3_TALLY_UNKNOWN, HP3_TALLY_SPREAD, HP3_TALLY_NO_SPREAD };

void hp3_tally_add(struct hp3_selftest_tally *t, enum hp3_selftest_verdict v);
enum hp3_tally_verdict hp3_tally_verdict(const struct hp3_selftest_tally *t);
