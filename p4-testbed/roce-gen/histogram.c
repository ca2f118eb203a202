/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "histogram.h"

/* Values below 2 * SUB have a class each; above, the 7 bits behind the leading one tell it. */
static uint32_t class_of(uint64_t value)
{
	uint32_t shift;

	if (value < 2 * GEN_HISTOGRAM_SUB)
		return (uint32_t)value;
	shift = 63u - (uint32_t)__builtin_clzll(value) - 7u;
	return shift * GEN_HISTOGRAM_SUB + (uint32_t)(value >> shift);
}

static uint64_t last_of(uint32_t class)
{
	uint32_t shift;

	if (class < 2 * GEN_HISTOGRAM_SUB)
		return class;
	shift = class / GEN_HISTOGRAM_SUB - 1;
	return (((uint64_t)(class % GEN_HISTOGRAM_SUB) + GEN_HISTOGRAM_SUB + 1) << shift) - 1;
}

void gen_histogram_add(struct gen_histogram *h, uint64_t value)
{
	if (h->n == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->n++;
	h->sum += value;
	h->count[class_of(value)]++;
}

uint64_t gen_histogram_percentile(const struct gen_histogram *h, double share)
{
	uint64_t rank = (uint64_t)ceil(share * (double)h->n), seen = 0;

	for (uint32_t i = 0; i < GEN_HISTOGRAM_CLASSES && h->n > 0; i++) {
		seen += h->count[i];
		if (seen >= rank && seen > 0)
			return last_of(i) < h->max ? last_of(i) : h->max;
	}
	return 0;
}
