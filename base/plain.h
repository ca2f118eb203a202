/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Makes text from untrusted sources safe to print. Such text is, for example, a process name, a
 * path, or a message of another program. hp3 calls these functions before it writes the text to a
 * log, a journal, JSON or a terminal.
 *
 * hp3_plain() replaces each byte that is not printable ASCII by '?', and returns the text. The text
 * then cannot move a cursor, begin a line or contain invalid UTF-8.
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

/*
 * As hp3_plain(), for n bytes of text that may have several lines, and no NUL at the end. Line ends
 * and tabs stay.
 */
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

/* Size of the longest quoted word, bytes with NUL. hp3_shell_quote() cuts a longer word. */
#define HP3_SHELL_QUOTE_MAX 512u

/*
 * Quotes a name from an untrusted source (such as an interface that a container named). The result
 * is one word of a shell command that an operator will type.
 *
 * The function does not change a name of safe characters that does not begin with '-'. It puts
 * other names in single quotes, and replaces each byte that is not printable ASCII by '?'. `buf`
 * has HP3_SHELL_QUOTE_MAX bytes. Returns `buf`.
 */
static inline const char *hp3_shell_quote(char *buf, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	size_t n = 0;

	if (name[0] != '\0' && name[0] != '-' && name[strspn(name, plain)] == '\0' &&
		strlen(name) < HP3_SHELL_QUOTE_MAX)
		return strcpy(buf, name);
	buf[n++] = '\'';
	for (; *name != '\0' && n + sizeof("'\\''") < HP3_SHELL_QUOTE_MAX; name++) {
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

/* The result is valid until the end of the enclosing block. */
#define HP3_SHELL_QUOTE(name) hp3_shell_quote((char[HP3_SHELL_QUOTE_MAX]){0}, (name))
