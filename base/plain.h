/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BASE_PLAIN_H
#define HP3_BASE_PLAIN_H
/*
 * Text of strangers (names of processes, paths, what other programs send) on its way to a log, a
 * journal, JSON or a terminal: each byte that is not printable ASCII becomes '?', so that none of
 * it moves a cursor, begins a line of its own or is no UTF-8. Returns the text.
 */
#include <string.h>

static inline char *hp3_plain(char *text)
{
	for (char *s = text; *s != '\0'; s++) {
		if (*s < ' ' || *s > '~')
			*s = '?';
	}
	return text;
}

/* The same of text of several lines, which is not ended by a NUL. */
static inline void hp3_plain_lines(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n' && text[i] != '\t')
			text[i] = '?';
}

static inline int hp3_is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	return *text == '\0';
}

/* Longest word of a command; a longer one is cut. */
#define HP3_WORD_MAX 512u

/*
 * A name of strangers (an interface that a container named) as one word of a command that somebody
 * will type in a shell: as it is if it is plain, else in single quotes; bytes that are not
 * printable ASCII become '?'. `buf` has HP3_WORD_MAX bytes. Returns `buf`.
 */
static inline const char *hp3_word(char *buf, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	size_t n = 0;

	if (name[0] != '\0' && name[0] != '-' && name[strspn(name, plain)] == '\0' &&
		strlen(name) < HP3_WORD_MAX)
		return strcpy(buf, name);
	buf[n++] = '\'';
	for (; *name != '\0' && n + sizeof("'\\''") < HP3_WORD_MAX; name++) {
		if (*name == '\'') {
			memcpy(buf + n, "'\\''", 4);
			n += 4;
		} else {
			buf[n++] = *name < ' ' || *name > '~' ? '?' : *name;
		}
	}
	buf[n++] = '\'';
	buf[n] = '\0';
	return buf;
}

/* Until the end of the block. */
#define HP3_WORD(name) hp3_word((char[HP3_WORD_MAX]){0}, (name))

#endif
