/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CORE_INPUT_H
#define HP3_SIM_CORE_INPUT_H
/*
 * A file that a run reads, or a text that is built in. Whoever reads it reads it through here, and
 * so the SHA-256 noted is that of the very bytes that the run was made from: results are compared
 * by what files held, never by what they were called.
 */
#include <limits.h>
#include <stdio.h>

#define SIM_SHA256_HEX 65u /* with NUL */

struct sim_input {
	char name[PATH_MAX]; /* "": none was read */
	char sha256[SIM_SHA256_HEX];
};

/*
 * For reading; `text` instead of the file `name` unless NULL. fclose() reads what is left and then
 * sets in->sha256. NULL with errno if it cannot be opened.
 */
FILE *sim_input_open(struct sim_input *in, const char *name, const char *text);
/* Reads all of it. 0 or negative errno. */
int sim_input_read(struct sim_input *in, const char *name, const char *text);
/* SHA-256 (FIPS 180-4) of n bytes, in hexadecimal digits. */
void sim_sha256(const void *data, size_t n, char hex[SIM_SHA256_HEX]);

#endif
