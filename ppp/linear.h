/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Predicts the path of each of the 16,384 source ports. CRC and XOR hashes are affine over GF(2):
 * H(p ^ d) = H(p) ^ H(d) ^ H(0). If the switch takes the hash modulo a power of two, path = A p ^ c
 * with a small matrix A. So a few traced ports determine all other ports ("Hashing Linearity
 * Enables Relative Path Control in Data Centers", USENIX ATC 2021).
 *
 * Two kinds of label:
 * - INDEX: the label is the next hop's index, the hash modulo `paths`. Gaussian elimination on
 *   (port difference, label difference): 15 traces determine the map.
 * - NAME: the label is any name of the path (a hop's address), i.e. an unknown permutation of the
 *   indices. Only equality counts: ports with the same label differ by a vector of the kernel of A,
 *   and one port per coset of the kernel names the path of the coset. With 2^r paths in use, paths
 *   + 14 - r traces determine the map. NAME is also valid for several stages with one polynomial
 *   and different seeds, because a seed only permutes names. NAME is also valid if the hash never
 *   selects some paths.
 *
 * Invariant: there are no predictions before the map is verified (HP3_LINEAR_BELIEVED). Once traces
 * determine the map, further ports are traced, and the map has to predict their labels with
 * HP3_LINEAR_PROOF bits of evidence. A confirmed name counts as log2(names seen) bits, at least
 * one. A confirmed index counts as one bit: of a hash modulo 6, for example, only the lowest bit is
 * linear. A map that does not match is refused with its reason, and stays refused. Reasons: the
 * hash is not linear, the modulo is not a power of two, labels are wrong, or routes changed in
 * between.
 *
 * Use: while the state is TRACING or VERIFYING, trace the port that hp3_linear_next() returns and
 * pass the result to hp3_linear_add(). Traces of other ports also count, in any order.
 */
#include <stdbool.h>
#include <stdint.h>
#include "ppp/ports.h"

#define HP3_LINEAR_PATHS  64u /* most paths */
#define HP3_LINEAR_TRACES 192u /* most traces of one map */
#define HP3_LINEAR_PROOF  32u /* bits of evidence, see above */

enum hp3_linear_labels { HP3_LABELS_INDEX, HP3_LABELS_NAME };

enum hp3_linear_state {
	HP3_LINEAR_TRACING, /* the map is not determined yet */
	HP3_LINEAR_VERIFYING, /* determined; traces of further ports have to confirm it */
	HP3_LINEAR_BELIEVED,
	HP3_LINEAR_REFUSED,
};

/* Why a map is refused, or not verified yet. X(symbol, text). */
#define HP3_LINEAR_REASONS(X)                                                                      \
	X(NONE, "verified")                                                                        \
	X(TOO_FEW, "not determined yet: trace the ports that are named next")                      \
	X(UNCONFIRMED, "determined, not confirmed yet: trace the ports that are named next")       \
	X(PATHS, "number of paths is not a power of two from 2 to 64: the modulo breaks "          \
		 "linearity, "                                                                     \
		 "use traces")                                                                     \
	X(LABEL, "a label is not below the number of paths: give the real number, or use names")   \
	X(MANY, "more paths seen than given: give the real number of paths")                       \
	X(CHANGED, "one port was seen on two paths: routes changed, start over")                   \
	X(CONTRADICTION,                                                                           \
		"a trace contradicts the linear map: the hash is not linear, or its modulo "       \
		"is not a power of two: use traces")                                               \
	X(FULL, "too many traces that add nothing: trace the ports that are named next")

enum hp3_linear_reason {
#define X(sym, text) HP3_LINEAR_WHY_##sym,
	HP3_LINEAR_REASONS(X)
#undef X
		HP3_LINEAR_WHY_MAX
};

struct hp3_linear {
	uint64_t rng;
	/* Echelon form by leading bit. INDEX: port differences, and their effect on the label.
	 * NAME: the kernel; effect[] is unused. vector[i] has leading bit i, or is 0. */
	uint16_t vector[HP3_PORT_BITS];
	uint32_t effect[HP3_PORT_BITS];
	uint32_t label[HP3_LINEAR_TRACES]; /* labels of all traces; the first trace is the origin */
	uint16_t port[HP3_LINEAR_TRACES]; /* without 0xC000 */
	uint16_t traces;
	uint16_t names; /* NAME: number of different labels */
	uint8_t rank; /* vectors in the echelon form */
	uint8_t bits; /* log2 of `paths` */
	uint8_t proof; /* bits of evidence from confirmed predictions */
	uint8_t labels; /* enum hp3_linear_labels */
	uint8_t state; /* enum hp3_linear_state */
	uint8_t reason; /* enum hp3_linear_reason */
};

/*
 * `paths`: number of next hops; for NAME, an upper bound is enough, such as 64. If `paths` is not a
 * power of two, the map is refused at once.
 */
enum hp3_linear_state hp3_linear_init(
	struct hp3_linear *l, enum hp3_linear_labels labels, uint32_t paths, uint64_t seed);

/* The trace of `port` (0xC000 .. 0xFFFF) showed `label`. A repeated port adds no evidence. */
enum hp3_linear_state hp3_linear_add(struct hp3_linear *l, uint16_t port, uint32_t label);

/*
 * The port to trace next: while TRACING, a port that adds information; while VERIFYING, a random
 * port that was not traced before.
 */
uint16_t hp3_linear_next(struct hp3_linear *l);

/* True: verified, and *label is the label of `port`. */
bool hp3_linear_path(const struct hp3_linear *l, uint16_t port, uint32_t *label);

/*
 * For other addresses behind the same switch, the map is only shifted: label'(port) = label(port ^
 * *shift). One trace of the other address pair gives the shift. False: the map does not have the
 * label, or is not verified. The shift is valid for one stage of hashing; confirm it by a few more
 * traces.
 */
bool hp3_linear_shift(const struct hp3_linear *l, uint16_t port, uint32_t label, uint16_t *shift);

const char *hp3_linear_reason_text(enum hp3_linear_reason r);
