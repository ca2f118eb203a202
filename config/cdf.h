/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A cumulative distribution of the sizes of flows or messages, in the format of data centre
 * simulators. A line is `size_bytes cumulative_share`. The shares are percentages (the last line
 * has 100) or fractions (the last line has 1). Neither column may decrease. '#' begins a comment.
 * There are at least two lines. Between two points, sizes are uniformly distributed.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HP3_CDF_POINTS 1024u

struct hp3_cdf {
	uint32_t n;
	uint64_t size[HP3_CDF_POINTS]; /* bytes */
	uint64_t share[HP3_CDF_POINTS]; /* fraction of 2^32 */
};

/*
 * Reads a distribution. `most`: the largest allowed size, bytes. `name`: the file's name, for
 * messages. Returns 0, or -EINVAL with a message that names file and line.
 */
int hp3_cdf_read(
	struct hp3_cdf *c, FILE *f, const char *name, uint64_t most, char *err, size_t err_size);
/* The size, bytes, at quantile u / 2^32: rounded down, at least 1. */
uint64_t hp3_cdf_size(const struct hp3_cdf *c, uint32_t u);
/* The mean size, bytes: rounded down, at least 1. */
uint64_t hp3_cdf_mean(const struct hp3_cdf *c);
