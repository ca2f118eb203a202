/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_KEY_FILE_H
#define HP3_CONFIG_KEY_FILE_H
/*
 * What `probe_key` names: 32 hexadecimal digits, or a file with the keys of one host. A line of it
 * is "SENDER RECEIVER KEY": two addresses of one family and 32 hexadecimal digits; what follows '#'
 * is a comment. "hp3ctl keys" writes such files for all hosts of a fabric.
 */
#include <stdio.h>
#include "probes/tag.h"

#define HP3_KEY_FILE_MAX (16u << 20) /* bytes: some 170,000 keys of IPv4 hosts */
#define HP3_KEY_TEXT_LEN 32u

bool hp3_is_key_text(const char *s); /* 32 hexadecimal digits, nothing else */
bool hp3_is_key_file(const char *s); /* an absolute path */

/* `s` is a key text, or "" for the zero key. */
struct hp3_probe_key hp3_key_of_text(const char *s);

/*
 * Reads the file; key->pairs is to be freed by the caller. Below 0, and told to `err` what is wrong
 * and what to do: -errno of a file that cannot be read, -EPERM where others can read or write it,
 * -EINVAL where a line of it is none.
 */
int hp3_key_file_read(const char *path, struct hp3_probe_key *key, FILE *err);

/* One line; the key of `ends` by `secret`. */
void hp3_key_file_line(
	FILE *out, const uint8_t secret[HP3_KEY_LEN], const struct hp3_pair_ends *ends);

#endif
