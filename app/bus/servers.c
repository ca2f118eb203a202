/* SPDX-License-Identifier: BSD-3-Clause */
/* URLs of servers as people may see them. */
#include <stdio.h>
#include <string.h>
#include "app/bus/bus.h"
#include "base/plain.h"

#define SEPARATORS ", "

/* Of one URL (or word) of n bytes: where its user and password begin and end; the same: it has
 * none. */
static void find_user(const char *url, size_t n, size_t *from, size_t *to)
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

const char *hp3_bus_servers(const char *text, char *to, size_t cap)
{
	size_t at = 0;

	to[0] = '\0';
	while (*text != '\0' && at < cap) {
		size_t n = strcspn(text, SEPARATORS), gap = strspn(text + n, SEPARATORS), from,
		       until;

		find_user(text, n, &from, &until);
		at += (size_t)snprintf(to + at, cap - at, "%.*s%s%.*s%.*s", (int)from, text,
			until > from ? "***" : "", (int)(n - until), text + until, (int)gap,
			text + n);
		text += n + gap;
	}
	return hp3_plain(to);
}
