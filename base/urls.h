/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Removes secrets from URLs of servers, for lists and messages. In each URL, "***" replaces the
 * user, password or token. The result is printable ASCII (plain.h).
 */
#include <string.h>
#include "base/plain.h"

#define HP3_URL_SEPARATORS ", "

/*
 * Finds user and password in a URL or word of n bytes. They are the bytes *from to *to - 1. If
 * there are none, *from equals *to.
 */
static inline void hp3_url_user(const char *url, size_t n, size_t *from, size_t *to)
{
	*from = *to = 0;
	for (size_t i = 0; i + 3 <= n && *from == 0; i++)
		if (memcmp(url + i, "://", 3) == 0)
			*from = i + 3;
	for (size_t i = *from; i < n; i++)
		if (url[i] == '@')
			*to = i;
	if (*to < *from)
		*to = *from;
}

/* Appends as many of n bytes as fit at `at`, and a NUL. Returns the new end. */
static inline size_t hp3_url_add(char *to, size_t cap, size_t at, const char *text, size_t n)
{
	size_t room = cap - 1 - at;

	n = n < room ? n : room;
	memcpy(to + at, text, n);
	to[at + n] = '\0';
	return at + n;
}

/* Writes `text` without secrets to `to`. Cuts the result to `cap` bytes, with NUL. Returns `to`. */
static inline const char *hp3_urls_shown(const char *text, char *to, size_t cap)
{
	size_t at = 0;

	to[0] = '\0';
	while (*text != '\0' && at < cap - 1) {
		size_t n = strcspn(text, HP3_URL_SEPARATORS), from, until;

		hp3_url_user(text, n, &from, &until);
		at = hp3_url_add(to, cap, at, text, from);
		at = hp3_url_add(to, cap, at, "***", until > from ? 3 : 0);
		n += strspn(text + n, HP3_URL_SEPARATORS);
		at = hp3_url_add(to, cap, at, text + until, n - until);
		text += n;
	}
	return hp3_plain(to);
}
