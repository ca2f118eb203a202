/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A file that a run reads, or a built-in text. A run reads all files by these functions, which
 * store the SHA-256 of the bytes that the run used. So results can be compared by the contents of
 * the files, independent of the files' names.
 */
#include <limits.h>
#include <stdio.h>

#define SIM_SHA256_HEX 65u /* with NUL */

struct sim_input {
	char name[PATH_MAX]; /* "": no file was read */
	char sha256[SIM_SHA256_HEX];
};

/*
 * Opens `text` or, if `text` is NULL, the file `name`. fclose() reads the rest, and sets
 * in->sha256. If the file cannot be opened, returns NULL and sets errno.
 */
FILE *sim_input_open(struct sim_input *in, const char *name, const char *text);
/* Reads the whole text or file, and sets *in. Returns 0 or a negative errno. */
int sim_input_read(struct sim_input *in, const char *name, const char *text);
/* SHA-256 (FIPS 180-4) of n bytes, in hexadecimal digits. */
void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX]);
