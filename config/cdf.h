/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_CDF_H
#define HP3_CONFIG_CDF_H
/*
 * Sizes of flows or messages by a cumulative distribution, as data centre simulators publish them:
 * lines `size_bytes cumulative_share`, the share in percent (the last line says 100) or as a
 * fraction (it says 1); both columns rise; '#' begins a comment. Between two points sizes are
 * uniform.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HP3_CDF_POINTS 1024u

struct hp3_cdf {
	uint32_t n;
	uint64_t size[HP3_CDF_POINTS]; /* bytes */
	uint64_t share[HP3_CDF_POINTS]; /* of 2^32 */
};

/* `most`: the largest size allowed. 0, or -EINVAL with a message that names file and line. */
int hp3_cdf_read(
	struct hp3_cdf *c, FILE *f, const char *name, uint64_t most, char *err, size_t err_size);
/* The size for u of 2^32, rounded down: at least 1 byte. */
uint64_t hp3_cdf_size(const struct hp3_cdf *c, uint32_t u);
/* At least 1, too. */
uint64_t hp3_cdf_mean(const struct hp3_cdf *c);

#endif
