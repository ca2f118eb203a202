// SPDX-License-Identifier: BSD-3-Clause
/*
 * Compiled by nobody: what each tool of scripts/analyze.py has to find before anybody believes that
 * it finds nothing elsewhere. It needs to know what becomes of `p` on one path of two.
 */
#include <stdlib.h>

int planted(int n);

int planted(int n)
{
	int *p = malloc(sizeof(*p));

	if (p == NULL)
		return -1;
	*p = n;
	if (n > 7)
		free(p);
	n = *p;
	free(p);
	return n;
}
