/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium/crypto_generichash.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "config/key_file.h"

#define LINE_MIN (sizeof(":: :: ") - 1 + HP3_KEY_TEXT_LEN) /* bytes of the shortest line */

bool hp3_is_key_text(const char *s)
{
	return strlen(s) == HP3_KEY_TEXT_LEN &&
	       strspn(s, "0123456789abcdefABCDEF") == HP3_KEY_TEXT_LEN;
}

bool hp3_is_key_file(const char *s)
{
	return s[0] == '/';
}

static void take_digits(uint8_t key[HP3_KEY_LEN], const char *hex)
{
	sodium_hex2bin(key, HP3_KEY_LEN, hex, HP3_KEY_TEXT_LEN, NULL, NULL, NULL);
}

struct hp3_probe_key hp3_key_of_text(const char *s)
{
	struct hp3_probe_key key = {{0}};

	if (s[0] != '\0')
		take_digits(key.bytes, s);
	return key;
}

/* Reports errno. Returns it, negated. */
static int report_key_error(const char *path, const char *help, FILE *err)
{
	int error = errno;

	fprintf(err, "%s: %s%s\n", path, strerror(error), help);
	return -error;
}

/* Returns 0, or less if hp3d may not read keys from this file. */
static int check_key_file(const char *path, int fd, struct stat *st, FILE *err)
{
	if (fd < 0 || fstat(fd, st) < 0)
		return report_key_error(path, ": hp3ctl keys writes such files", err);
	if (!S_ISREG(st->st_mode) || st->st_size > HP3_KEY_FILE_MAX) {
		fprintf(err, "%s: no file of keys: it has to be a regular one of at most %u MiB\n",
			path, HP3_KEY_FILE_MAX >> 20);
		return -EINVAL;
	}
	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		fprintf(err,
			"%s: it belongs to user %u, who can read and change keys: chown root %s\n",
			path, st->st_uid, path);
		return -EPERM;
	}
	if (st->st_mode & 077) {
		fprintf(err, "%s: its mode is %04o, others can read or change keys: chmod 600 %s\n",
			path, st->st_mode & 07777, path);
		return -EPERM;
	}
	return 0;
}

/* Reads the file to memory, with a NUL at the end. NULL: see *ret. */
static char *take_in(const char *path, int fd, size_t size, size_t *len, int *ret, FILE *err)
{
	char *text = malloc(size + 1);
	ssize_t n;

	*ret = text == NULL ? -ENOMEM : 0;
	for (*len = 0; text != NULL && *len < size; *len += (size_t)n) {
		n = read(fd, text + *len, size - *len);
		if (n == 0)
			break;
		if (n < 0) {
			*ret = report_key_error(path, "", err);
			free(text);
			return NULL;
		}
	}
	if (text != NULL)
		text[*len] = '\0';
	return text;
}

/* Reads the whole file. NULL: see *ret. */
static char *read_key_file(const char *path, size_t *len, int *ret, FILE *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st = {0};
	char *text = NULL;

	*ret = check_key_file(path, fd, &st, err);
	if (*ret == 0)
		text = take_in(path, fd, (size_t)st.st_size, len, ret, err);
	if (fd >= 0)
		close(fd);
	return text;
}

/* Parses a line. Returns NULL, or the error of the line. */
static const char *take_line(char *line, struct hp3_pair_key *pair)
{
	char *rest = NULL, *word[4];
	uint8_t src[16], dst[16];
	bool ipv6;

	for (unsigned i = 0; i < 4; i++)
		word[i] = strtok_r(i == 0 ? line : NULL, " \t\r", &rest);
	if (word[2] == NULL || word[3] != NULL)
		return "a line is SENDER RECEIVER KEY";
	ipv6 = strchr(word[0], ':') != NULL;
	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, word[0], src) != 1)
		return "the sender is no address";
	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, word[1], dst) != 1)
		return "the receiver is no address of the sender's family";
	if (!hp3_is_key_text(word[2]))
		return "the key has to have 32 hexadecimal digits";
	pair->ends = hp3_pair_ends_of(ipv6, src, dst);
	take_digits(pair->key, word[2]);
	return NULL;
}

static int by_ends(const void *a, const void *b)
{
	return hp3_pair_ends_compare(
		&((const struct hp3_pair_key *)a)->ends, &((const struct hp3_pair_key *)b)->ends);
}

/* Parses all lines. Returns NULL, or the error and the number of its line (0: no single line). */
static const char *take_lines(char *text, struct hp3_pair_keys *keys, unsigned *number)
{
	const char *wrong;
	char *next;

	for (char *line = text; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		++*number;
		line[strcspn(line, "#")] = '\0';
		if (line[strspn(line, " \t\r")] == '\0')
			continue;
		wrong = take_line(line, &keys->pair[keys->n]);
		if (wrong != NULL)
			return wrong;
		keys->n++;
	}
	*number = 0;
	qsort(keys->pair, keys->n, sizeof(keys->pair[0]), by_ends);
	for (uint32_t i = 1; i < keys->n; i++) {
		if (by_ends(&keys->pair[i - 1], &keys->pair[i]) == 0)
			return "two keys for one sender and receiver";
	}
	return keys->n == 0 ? "there is no key in it" : NULL;
}

int hp3_key_file_read(const char *path, struct hp3_probe_key *key, FILE *err)
{
	struct hp3_pair_keys *keys;
	unsigned number = 0;
	const char *wrong;
	size_t len;
	int ret;
	char *text = read_key_file(path, &len, &ret, err);

	if (text == NULL)
		return ret;
	memset(key, 0, sizeof(*key));
	keys = malloc(sizeof(*keys) + (len / LINE_MIN + 1) * sizeof(keys->pair[0]));
	if (keys == NULL || getrandom(keys->nobody, HP3_KEY_LEN, 0) != HP3_KEY_LEN) {
		free(keys);
		free(text);
		return -ENOMEM;
	}
	keys->n = 0;
	crypto_generichash(
		key->bytes, sizeof(key->bytes), (const unsigned char *)text, len, NULL, 0);
	wrong = take_lines(text, keys, &number);
	explicit_bzero(text, len);
	free(text);
	if (wrong == NULL) {
		key->pairs = keys;
		return 0;
	}
	if (number != 0)
		fprintf(err, "%s:%u: %s\n", path, number, wrong);
	else
		fprintf(err, "%s: %s\n", path, wrong);
	free(keys);
	return -EINVAL;
}

void hp3_key_file_line(
	FILE *out, const uint8_t secret[HP3_KEY_LEN], const struct hp3_pair_ends *ends)
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	int family = ends->ipv6 ? AF_INET6 : AF_INET;
	char hex[HP3_KEY_TEXT_LEN + 1];
	uint8_t key[HP3_KEY_LEN];

	hp3_pair_key_derive(key, secret, ends);
	fprintf(out, "%s %s %s\n", inet_ntop(family, ends->src, src, sizeof(src)),
		inet_ntop(family, ends->dst, dst, sizeof(dst)),
		sodium_bin2hex(hex, sizeof(hex), key, sizeof(key)));
	explicit_bzero(hex, sizeof(hex));
	explicit_bzero(key, sizeof(key));
}
