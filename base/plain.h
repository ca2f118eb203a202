/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BASE_PLAIN_H
#define HP3_BASE_PLAIN_H
/*
 * Text of strangers (names of processes, paths, what other programs send) on its way to a log, a
 * journal, JSON or a terminal: each byte that is not printable ASCII becomes '?', so that none of
 * it moves a cursor, begins a line of its own or is no UTF-8. Returns the text.
 */

static inline char *hp3_plain(char *text)
{
	for (char *s = text; *s != '\0'; s++) {
		if (*s < ' ' || *s > '~')
			*s = '?';
	}
	return text;
}

#endif
