/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Makes all strings in an answer of another program plain text (base/plain.h). Terminals, files and
 * commands then get only plain text. Removes members whose key is not plain text: no answer of hp3
 * has such a member. `j` may be NULL.
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
	void *next;
	size_t i;

	if (json_is_string(j))
		hp3_plain_json_string(j);
	json_object_foreach_safe(j, next, key, value) if (hp3_is_plain(key)) hp3_plain_json(value);
	else json_object_del(j, key);
	json_array_foreach (j, i, value)
		hp3_plain_json(value);
	return j;
}
