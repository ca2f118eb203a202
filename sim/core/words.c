/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include "sim/core/words.h"

struct sim_words sim_words_of(FILE *f, const char *path, char *err, uint32_t err_size)
{
	return (struct sim_words){.f = f, .path = path, .err = err, .err_size = err_size};
}

void sim_words_free(struct sim_words *w)
{
	free(w->text);
	w->text = NULL;
}

static char *skip_spaces(char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

bool sim_words_line(struct sim_words *w)
{
	ssize_t n;

	while ((n = getline(&w->text, &w->size, w->f)) >= 0) {
		w->line++;
		w->column = 0;
		for (ssize_t i = 0; i < n; i++)
			if (w->text[i] == '\0')
				w->text[i] = '?';
		w->at = skip_spaces(w->text);
		if (*w->at != '\0')
			return true;
	}
	return false;
}

char *sim_words_next(struct sim_words *w)
{
	char *word = skip_spaces(w->at), *end = word;

	if (*word == '\0')
		return NULL;
	while (*end != '\0' && !isspace((unsigned char)*end))
		end++;
	w->at = end;
	if (*end != '\0') {
		*end = '\0';
		w->at++;
	}
	w->column++;
	return word;
}

bool sim_words_split(struct sim_words *w)
{
	char *word;

	w->n = 0;
	if (!sim_words_line(w))
		return false;
	while ((word = sim_words_next(w)) != NULL) {
		if (w->n < SIM_WORDS_MAX)
			w->word[w->n] = word;
		w->n++;
	}
	return true;
}

bool sim_words_number(const char *word, uint64_t max, uint64_t *value)
{
	uint64_t v = 0;

	if (*word == '\0')
		return false;
	for (; *word != '\0'; word++) {
		if (!isdigit((unsigned char)*word) || v > max / 10)
			return false;
		v = v * 10 + (uint64_t)(*word - '0');
		if (v > max)
			return false;
	}
	*value = v;
	return true;
}

int sim_words_fail(struct sim_words *w, uint32_t line, uint32_t column, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (column > 0)
		n = snprintf(w->err, w->err_size, "%s:%u: column %u: ", w->path, line, column);
	else
		n = snprintf(w->err, w->err_size, "%s:%u: ", w->path, line);
	if (n < 0 || (uint32_t)n >= w->err_size)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(w->err + n, w->err_size - (uint32_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int sim_words_fail_columns(struct sim_words *w, const char *form)
{
	return sim_words_fail(w, w->line, 0, "%u columns: write `%s`", w->n, form);
}
