/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Writes messages to standard error. A message may contain names of files and interfaces, and
 * arguments of a command line. The written line is printable ASCII, whatever these names and
 * arguments contain (base/plain.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/plain.h"

/* Writes a line; fmt has no '\n'. If there is no memory, the line is lost. */
static inline __attribute__((format(printf, 1, 2))) void hp3_message(const char *fmt, ...)
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
