/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_MESSAGE_H
#define HP3_CONFIG_MESSAGE_H
/*
 * A line on standard error, for programs whose messages name files, interfaces and words of a
 * command line: whatever these contain, the line is plain text (base/plain.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/plain.h"

/* Without the line end. Without memory, the line is lost. */
static inline void hp3_message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline void hp3_message(const char *fmt, ...)
{
	char *line;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	fprintf(stderr, "%s\n", hp3_plain(line));
	free(line);
}

#endif
