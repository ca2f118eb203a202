/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Escapes text for troff, for the programs that write manual pages from tables. */
#include <stdio.h>

/*
 * Writes text for troff. Escapes dashes and backslashes, and a '.' or '\'' at the beginning of the
 * text.
 */
static inline void hp3_troff_text(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text != '\0'; text++) {
		if (*text == '-')
			fputc('\\', out);
		fputs(*text == '\\' ? "\\e" : (char[]){*text, '\0'}, out);
	}
}
