/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* For the programs that write manual pages from tables. */
#include <stdio.h>

/* Writes text for troff: escapes dashes and backslashes, and a '.' or '\'' at the beginning. */
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
