/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CORE_INPUT_H
#define HP3_SIM_CORE_INPUT_H
/*
 * A file that a run reads, or a built-in text. All reads go through here, so the SHA-256 stored is
 * that of the bytes that the run used: results are compared by the files' contents, not names.
 */
#include <limits.h>
#include <stdio.h>

#define SIM_SHA256_HEX 65u /* with NUL */

struct sim_input {
	char name[PATH_MAX]; /* "": none was read */
	char sha256[SIM_SHA256_HEX];
};

/*
 * Opens `text`, or the file `name` if `text` is NULL. fclose() reads the rest, then sets
 * in->sha256. NULL with errno if the file cannot be opened.
 */
FILE *sim_input_open(struct sim_input *in, const char *name, const char *text);
/* Reads all of it. 0 or negative errno. */
int sim_input_read(struct sim_input *in, const char *name, const char *text);
/* SHA-256 (FIPS 180-4) of n bytes, in hexadecimal digits. */
void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX]);

#endif
