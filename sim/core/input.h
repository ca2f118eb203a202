/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A file that a run reads, or a built-in text. All reads use these functions, so the stored SHA-256
 * covers the bytes that the run used. Results can therefore be compared by the files' contents,
 * independent of their names.
 */
#include <limits.h>
#include <stdio.h>

#define SIM_SHA256_HEX 65u /* with NUL */

struct sim_input {
	char name[PATH_MAX]; /* "": no file was read */
	char sha256[SIM_SHA256_HEX];
};

/*
 * Opens `text`, or the file `name` if `text` is NULL. fclose() reads the rest, then sets
 * in->sha256. NULL with errno if the file cannot be opened.
 */
FILE *sim_input_open(struct sim_input *in, const char *name, const char *text);
/* Reads the whole text or file, to set *in. Returns 0 or a negative errno. */
int sim_input_read(struct sim_input *in, const char *name, const char *text);
/* SHA-256 (FIPS 180-4) of n bytes, in hexadecimal digits. */
void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX]);
