/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the name that is nearest to `asked`, for messages "did you mean ...?". A name counts only
 * if its distance from `asked` is small enough for a typing error.
 *
 * The distance is the number of edits (optimal string alignment). Names are lower case and shorter
 * than HP3_NEAREST_MAX. The case of `asked` counts only where two neighbouring letters are swapped.
 */
#define HP3_NEAREST_MAX 64u

struct hp3_nearest {
	const char *asked, *best; /* best: NULL if no name is near enough */
	unsigned distance;
};

void hp3_nearest_offer(struct hp3_nearest *n, const char *name);
