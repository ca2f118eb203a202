/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BASE_NEAREST_H
#define HP3_BASE_NEAREST_H
/*
 * "Did you mean ...?": of the names that are offered, the one nearest to what was asked, if it is
 * near enough to be a slip of the hand. Names are lower case and shorter than HP3_NEAREST_MAX; the
 * case of what was asked does not count.
 */
#define HP3_NEAREST_MAX 64u

struct hp3_nearest {
	const char *asked, *best; /* best: NULL if none is near enough */
	unsigned distance;
};

void hp3_nearest_offer(struct hp3_nearest *n, const char *name);

#endif
