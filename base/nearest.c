/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include "base/minmax.h"

static unsigned min_of_three(unsigned a, unsigned b, unsigned c)
{
	return hp3_min_u32(hp3_min_u32(a, b), c);
}

/*
 * Edit distance in which a swap of two neighbours is one edit (optimal string alignment), with
 * three rolling rows. b is lower case. The case of a counts only in a swap.
 */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned rows[3][HP3_NEAREST_MAX];
	size_t n = strlen(a), m = strlen(b);

	if (n >= HP3_NEAREST_MAX || m >= HP3_NEAREST_MAX)
		return HP3_NEAREST_MAX;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3],
			 *above2 = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned differ = tolower((unsigned char)a[i - 1]) != b[j - 1];

			row[j] = min_of_three(above[j] + 1, row[j - 1] + 1, above[j - 1] + differ);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				above2[j - 2] + 1 < row[j])
				row[j] = above2[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

/*
 * At most a third of the name may be wrong, and always one letter. A name with more errors counts
 * as another word.
 */
void hp3_nearest_offer(struct hp3_nearest *n, const char *name)
{
	unsigned d = edit_distance(n->asked, name), bound = (unsigned)strlen(name) / 3;

	if (d > (bound > 0 ? bound : 1) || (n->best != NULL && d >= n->distance))
		return;
	n->best = name;
	n->distance = d;
}
