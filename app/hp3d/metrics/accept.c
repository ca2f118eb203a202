/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/server.h"
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define WHOLE   1000 /* quality is counted in thousandths */
#define VERSION "1.0.0"

struct token {
	const char *at;
	size_t n;
};

static bool is_token(struct token w, const char *text)
{
	return w.n == strlen(text) && strncasecmp(w.at, text, w.n) == 0;
}

/* The text before one of `ends`, without surrounding blanks and quotes; advances *s past it. */
static struct token take_token(const char **s, const char *ends)
{
	struct token w = {*s, strcspn(*s, ends)};

	*s += w.n;
	while (w.n > 0 && (isspace((unsigned char)*w.at) || *w.at == '"')) {
		w.at++;
		w.n--;
	}
	while (w.n > 0 && (isspace((unsigned char)w.at[w.n - 1]) || w.at[w.n - 1] == '"'))
		w.n--;
	return w;
}

/* Parses "1", "0.5", "0.125"; anything else counts as 0: not wanted. */
static int quality_of_token(struct token w)
{
	int q, digit = WHOLE / 10;

	if (w.n == 0 || (*w.at != '0' && *w.at != '1') || (w.n > 1 && w.at[1] != '.'))
		return 0;
	q = (*w.at - '0') * WHOLE;
	for (size_t i = 2; i < w.n && i < 5; i++, digit /= 10) {
		if (!isdigit((unsigned char)w.at[i]))
			return 0;
		q += (w.at[i] - '0') * digit;
	}
	return q < WHOLE ? q : WHOLE;
}

bool hp3d_accepts_openmetrics(const char *accept)
{
	int open = 0, text = 0;

	for (const char *s = accept != NULL ? accept : ""; *s != '\0'; s += *s == ',') {
		struct token type = take_token(&s, ";,");
		bool ours = true;
		int q = WHOLE;

		while (*s == ';') {
			struct token key, value = {"", 0};

			s++;
			key = take_token(&s, "=;,");
			if (*s == '=') {
				s++;
				value = take_token(&s, ";,");
			}
			if (is_token(key, "q"))
				q = quality_of_token(value);
			else if (is_token(key, "version"))
				ours = is_token(value, VERSION);
		}
		if (is_token(type, "application/openmetrics-text") && ours && q > open)
			open = q;
		if ((is_token(type, "text/plain") || is_token(type, "text/*")) && q > text)
			text = q;
	}
	return open > 0 && open >= text;
}
