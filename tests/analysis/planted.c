// SPDX-License-Identifier: BSD-3-Clause
/*
 * Not compiled: a fault that each tool of scripts/analyze.py must find, as a check of the tool. The
 * tool must follow `p` on one path of two.
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
