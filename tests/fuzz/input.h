/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Shared by targets that read files. A finding ends the process by abort(). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "config/ini.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#undef MUST
#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Writes the bytes to a file and returns its path, which is always the same. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		MUST(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	MUST(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

/* Redirects *stream (stdout, stderr) to `text`, until fuzz_keep_end(). */
static inline FILE *fuzz_keep(FILE **stream, char *text, size_t cap)
{
	FILE *own = *stream;

	*stream = fmemopen(text, cap, "w");
	MUST(*stream != NULL);
	return own;
}

static inline void fuzz_keep_end(FILE **stream, FILE *own)
{
	fclose(*stream);
	*stream = own;
}

/* Checks that every error is one printable line, in the order of the file, and that there are
 * errors if and only if the load failed. Frees them. */
static inline void fuzz_check_errors(int ret, struct hp3_config_errors *errs)
{
	uint32_t line = 0;

	MUST((ret == 0) == (errs->count == 0 && errs->lost == 0));
	for (unsigned i = 0; i < errs->count; i++) {
		const struct hp3_config_error *e = &errs->list[i];

		MUST(e->text != NULL && e->text[0] != '\0' && strchr(e->text, '\n') == NULL);
		MUST(e->line == 0 || e->line >= line);
		line = e->line;
	}
	hp3_config_errors_free(errs);
}
