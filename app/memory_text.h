/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A text that grows in memory. If an allocation fails, glibc's open_memstream() drops bytes and
 * does not set ferror(): only the result of a write shows the failure. So hp3_text_put() checks
 * each write. Any module may include this.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct hp3_text {
	FILE *out;
	char *at; /* after hp3_text_end(): len bytes and '\0'; the caller frees it */
	size_t len;
	bool failed; /* no memory: bytes are missing */
};

/* False: no memory; there is no text to write or to end. */
static inline bool hp3_text_begin(struct hp3_text *t)
{
	*t = (struct hp3_text){0};
	t->out = open_memstream(&t->at, &t->len);
	return t->out != NULL;
}

static inline __attribute__((format(printf, 2, 3))) void hp3_text_put(
	struct hp3_text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->failed |= vfprintf(t->out, fmt, ap) < 0;
	va_end(ap);
}

/* True: the text is complete. */
static inline bool hp3_text_end(struct hp3_text *t)
{
	return fclose(t->out) == 0 && !t->failed;
}
