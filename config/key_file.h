/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The value of `probe_key`: 32 hexadecimal digits, or the path of a file with the keys of one host.
 * A line of such a file is "SENDER RECEIVER KEY": two addresses of the same family, and 32
 * hexadecimal digits. '#' begins a comment. "hp3ctl keys" writes such files for all hosts of a
 * fabric.
 */
#include <stdio.h>
#include "probes/tag.h"

#define HP3_KEY_FILE_MAX (16u << 20) /* bytes: room for 250,000 keys of IPv4 hosts, or more */
#define HP3_KEY_TEXT_LEN 32u

bool hp3_is_key_text(const char *s); /* 32 hexadecimal digits, nothing else */
bool hp3_is_key_file(const char *s); /* an absolute path */

/* The key of a key text `s`; "": the zero key. */
struct hp3_probe_key hp3_key_of_text(const char *s);

/*
 * Reads the file. The caller frees key->pairs. Returns 0, or a negative errno. -EPERM: other users
 * can read or write the file; -EINVAL: a line is invalid. On errors other than -ENOMEM, the
 * function writes a message with the reason and the fix to `err`.
 */
int hp3_key_file_read(const char *path, struct hp3_probe_key *key, FILE *err);

/* Writes one line: the key of `ends`, derived from `secret`. */
void hp3_key_file_line(
	FILE *out, const uint8_t secret[HP3_KEY_LEN], const struct hp3_pair_ends *ends);
