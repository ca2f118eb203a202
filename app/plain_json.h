/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_PLAIN_JSON_H
#define HP3_APP_PLAIN_JSON_H
/*
 * An answer of another program, where it comes in: all strings in it become plain text
 * (base/plain.h), so that none of them reaches a terminal, a file or a command as anything else.
 * Keys of objects stay: who prints them escapes them (JSON_ENSURE_ASCII). Harmless with NULL.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "base/plain.h"

static inline void hp3_plain_json_string(json_t *string)
{
	char *text = strndup(json_string_value(string), json_string_length(string));

	json_string_set(string, text != NULL ? hp3_plain(text) : "");
	free(text);
}

static inline json_t *hp3_plain_json(json_t *j)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_is_string(j))
		hp3_plain_json_string(j);
	json_object_foreach (j, key, value)
		hp3_plain_json(value);
	json_array_foreach (j, i, value)
		hp3_plain_json(value);
	return j;
}

#endif
