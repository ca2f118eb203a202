/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CDF_H
#define ROCE_GEN_CDF_H
/*
 * Message sizes by a cumulative distribution: a text file with a line for each point, bytes and the
 * share of messages that are at most so large, in percent (0 to 100) or as a fraction (0 to 1);
 * both columns grow; '#' begins a comment. Between two points sizes are spread evenly. Files of
 * this form are what data centre simulators use for published traces.
 */
#include <stdint.h>

struct gen_cdf {
	uint32_t n;
	double *bytes, *share; /* share: 0..1 */
};

/* 0, or a negative errno with a message that names file and line on stderr. */
int gen_cdf_load(struct gen_cdf *c, const char *path);
void gen_cdf_free(struct gen_cdf *c);
double gen_cdf_mean(const struct gen_cdf *c);
/* The size for u in [0,1): at least 1 byte. */
uint32_t gen_cdf_size(const struct gen_cdf *c, double u);

#endif
