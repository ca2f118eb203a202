/* SPDX-License-Identifier: BSD-3-Clause */
/* keys: writes a file of keys for each host of a fabric, with only the keys that it needs. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"
#include "app/one_line.h"
#include "config/key_file.h"

#define BLANKS " \t\r\n"

struct address {
	uint32_t host; /* its host */
	bool ipv6;
	uint8_t bytes[16];
};

struct fabric {
	char **name; /* of hosts */
	struct address *address;
	uint32_t hosts, addresses;
	uint64_t keys; /* written */
};

static int fail_key_file(struct hp3ctl *ctl, const char *fix, const char *file, const char *why)
{
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "keys", fix, "%s: %s", file, why);
}

static void *grow_list(void *list, uint32_t n, size_t size)
{
	return (n & (n - 1)) == 0 ? realloc(list, (n == 0 ? 1 : 2 * (size_t)n) * size) : list;
}

static const char *add_address(struct fabric *f, const char *text)
{
	struct address a = {.host = f->hosts - 1, .ipv6 = strchr(text, ':') != NULL};
	struct address *list = grow_list(f->address, f->addresses, sizeof(*list));

	if (list == NULL)
		return "no memory";
	f->address = list;
	if (inet_pton(a.ipv6 ? AF_INET6 : AF_INET, text, a.bytes) != 1)
		return "a line is NAME ADDRESS..., and a word after the name is not an address";
	for (uint32_t i = 0; i < f->addresses; i++) {
		if (list[i].ipv6 == a.ipv6 && memcmp(list[i].bytes, a.bytes, 16) == 0)
			return "an address is there twice";
	}
	list[f->addresses++] = a;
	return NULL;
}

static const char *add_host(struct fabric *f, const char *name)
{
	char **list = grow_list(f->name, f->hosts, sizeof(*list));

	if (list == NULL)
		return "no memory";
	f->name = list;
	if (name[0] == '.' || strchr(name, '/') != NULL)
		return "a host's name becomes a file name: without / and without a leading .";
	for (uint32_t i = 0; i < f->hosts; i++) {
		if (strcmp(list[i], name) == 0)
			return "a host is there twice";
	}
	list[f->hosts] = strdup(name);
	if (list[f->hosts] == NULL)
		return "no memory";
	f->hosts++;
	return NULL;
}

static const char *take_line(struct fabric *f, char *line)
{
	const char *wrong, *word;
	char *rest;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (word == NULL)
		return NULL;
	wrong = add_host(f, word);
	word = strtok_r(NULL, BLANKS, &rest);
	if (wrong == NULL && word == NULL)
		return "a line is NAME ADDRESS..., and the address is missing";
	for (; wrong == NULL && word != NULL; word = strtok_r(NULL, BLANKS, &rest))
		wrong = add_address(f, word);
	return wrong;
}

static int read_hosts(struct hp3ctl *ctl, const char *path, struct fabric *f)
{
	FILE *in = fopen(path, "re");
	const char *wrong = NULL;
	unsigned number = 0;
	size_t cap = 0;
	char *line = NULL, where[24] = "";

	if (in == NULL)
		return fail_key_file(ctl, "a line of it is NAME ADDRESS...", path, strerror(errno));
	while (wrong == NULL && getline(&line, &cap, in) >= 0) {
		number++;
		wrong = take_line(f, line);
	}
	free(line);
	fclose(in);
	if (wrong == NULL && f->hosts < 2) {
		wrong = "there are not two hosts in it";
		number = 0;
	}
	if (wrong == NULL)
		return HP3CTL_DONE;
	if (number != 0)
		snprintf(where, sizeof(where), "line %u: ", number);
	return hp3ctl_fail(ctl, HP3CTL_FAILED, "keys", "see hp3ctl keys --help", "%s: %s%s", path,
		where, wrong);
}

/* A new random secret, which is not stored, or that of a file. */
static int take_secret(struct hp3ctl *ctl, uint8_t secret[HP3_KEY_LEN])
{
	const char *path = ctl->text[HP3CTL_SECRET];
	char text[HP3_KEY_TEXT_LEN + 8];
	struct hp3_probe_key key;
	int ret;

	if (path == NULL) {
		if (getrandom(secret, HP3_KEY_LEN, 0) == HP3_KEY_LEN)
			return HP3CTL_DONE;
		return fail_key_file(ctl, "give a secret of your own with --secret FILE",
			"the kernel's random numbers", strerror(errno));
	}
	ret = hp3_read_line(path, text, sizeof(text));
	if (ret < 0 && ret != -ENODATA)
		return fail_key_file(
			ctl, "openssl rand -hex 16 prints a secret", path, strerror(-ret));
	text[strcspn(text, BLANKS)] = '\0';
	if (!hp3_is_key_text(text))
		return fail_key_file(ctl, "openssl rand -hex 16 prints them", path,
			"it does not have 32 hexadecimal digits");
	key = hp3_key_of_text(text);
	memcpy(secret, key.bytes, HP3_KEY_LEN);
	return HP3CTL_DONE;
}

static void print_both(
	FILE *out, const uint8_t *secret, const struct address *a, const struct address *b)
{
	const struct hp3_pair_ends there = hp3_pair_ends_of(a->ipv6, a->bytes, b->bytes);
	const struct hp3_pair_ends back = hp3_pair_ends_back(&there);

	hp3_key_file_line(out, secret, &there);
	hp3_key_file_line(out, secret, &back);
}

static void path_of(
	const struct hp3ctl *ctl, const struct fabric *f, uint32_t host, char *path, size_t size)
{
	const char *dir = ctl->text[HP3CTL_OUT] ? ctl->text[HP3CTL_OUT] : ".";

	snprintf(path, size, "%s/%s.keys", dir, f->name[host]);
}

/* Writes all keys between an address of the host and an address of another host. */
static int write_host(struct hp3ctl *ctl, struct fabric *f, uint32_t host, const uint8_t *secret)
{
	char path[4096];
	bool written;
	FILE *out;
	int fd;

	path_of(ctl, f, host, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL)
		return fail_key_file(ctl, "files are not overwritten: give another --out", path,
			strerror(errno));
	fprintf(out, "# keys of %s: only for its [probes] probe_key\n", f->name[host]);
	for (uint32_t i = 0; i < f->addresses; i++) {
		for (uint32_t k = 0; f->address[i].host == host && k < f->addresses; k++) {
			if (f->address[k].host == host || f->address[k].ipv6 != f->address[i].ipv6)
				continue;
			print_both(out, secret, &f->address[i], &f->address[k]);
			f->keys += 2;
		}
	}
	written = fflush(out) == 0 && fsync(fd) == 0;
	if (fclose(out) == 0 && written)
		return HP3CTL_DONE;
	fail_key_file(ctl, "make room", path, strerror(errno));
	unlink(path);
	return HP3CTL_FAILED;
}

static int write_all(struct hp3ctl *ctl, struct fabric *f, const uint8_t *secret)
{
	int rc = HP3CTL_DONE;
	char path[4096];
	uint32_t n;

	for (n = 0; n < f->hosts; n++) {
		rc = write_host(ctl, f, n, secret);
		if (rc != HP3CTL_DONE)
			break;
	}
	while (rc != HP3CTL_DONE && n-- > 0) { /* after an error, removes all files */
		path_of(ctl, f, n, path, sizeof(path));
		unlink(path);
	}
	return rc;
}

static void print_key_summary(const struct hp3ctl *ctl, const struct fabric *f)
{
	bool drawn = ctl->text[HP3CTL_SECRET] == NULL;

	if (ctl->json) {
		hp3ctl_print_new_json(
			json_pack("{s:i, s:I, s:I, s:b}", "v", HP3CTL_JSON_VERSION, "hosts",
				(json_int_t)f->hosts, "keys", (json_int_t)f->keys, "drawn", drawn));
		return;
	}
	printf("%u hosts, %llu keys%s\n", f->hosts, (unsigned long long)f->keys,
		drawn ? "; of a secret that nobody has: for one more host, all get new files" : "");
}

int hp3ctl_keys(struct hp3ctl *ctl)
{
	uint8_t secret[HP3_KEY_LEN];
	struct fabric f = {0};
	int rc = read_hosts(ctl, ctl->args[0], &f);

	if (rc == HP3CTL_DONE)
		rc = take_secret(ctl, secret);
	if (rc == HP3CTL_DONE)
		rc = write_all(ctl, &f, secret);
	explicit_bzero(secret, sizeof(secret));
	if (rc == HP3CTL_DONE)
		print_key_summary(ctl, &f);
	for (uint32_t i = 0; i < f.hosts; i++)
		free(f.name[i]);
	free(f.name);
	free(f.address);
	return rc;
}
