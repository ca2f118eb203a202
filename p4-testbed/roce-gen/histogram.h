/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Percentiles of any number of times, in fixed memory. Each power of two has 128 classes, so a
 * percentile is at most 0.8 % above the true percentile. Count, sum, minimum and maximum are exact.
 */
#include <stdint.h>

#define GEN_HISTOGRAM_SUB     128u
#define GEN_HISTOGRAM_CLASSES (58u * GEN_HISTOGRAM_SUB)

struct gen_histogram {
	uint64_t n, sum, min, max;
	uint32_t count[GEN_HISTOGRAM_CLASSES];
};

void gen_histogram_add(struct gen_histogram *h, uint64_t value);
/*
 * A percentile: at least `share` (0..1) of all values are at or below the result. 0: there are no
 * values.
 */
uint64_t gen_histogram_percentile(const struct gen_histogram *h, double share);
