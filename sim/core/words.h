/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Words of a text file, line by line. Errors name the line and the column. A column is a word of
 * the line; lines and columns count from 1.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_WORDS_MAX 8u /* columns that sim_words_split() returns */

struct sim_words {
	FILE *f;
	const char *path;
	char *err; /* of the caller: the message */
	uint32_t err_size;
	char *text; /* the line */
	size_t size;
	char *at; /* the rest of the line */
	uint32_t line, column; /* of the last word */
	char *word[SIM_WORDS_MAX];
	uint32_t n;
};

/* The caller closes w->f, after sim_words_free(). */
struct sim_words sim_words_of(FILE *f, const char *path, char *err, uint32_t err_size);
void sim_words_free(struct sim_words *w);

/* Goes to the next line that is not empty. False: the file has ended. */
bool sim_words_line(struct sim_words *w);
/* The next word of the line. NULL: the line has ended. */
char *sim_words_next(struct sim_words *w);
/* Goes to the next line that is not empty. w->word has its first words, w->n counts all of them. */
bool sim_words_split(struct sim_words *w);

/* A word of digits only, at most max. */
bool sim_words_number(const char *word, uint64_t max, uint64_t *value);

/* Both set the message, and return -EINVAL. Column 0: the whole line. */
int sim_words_fail(struct sim_words *w, uint32_t line, uint32_t column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The line has w->n words, which is a wrong number. `form` names the right columns. */
int sim_words_fail_columns(struct sim_words *w, const char *form);
