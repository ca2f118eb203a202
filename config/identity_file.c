/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/identity_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium/utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME     "identity"
#define TEXT_MAX 1024u
#define SEED_HEX (2 * HP3_SEED_LEN)

static const char head[] = "# The identity of this host's hp3d. It is a secret: who reads it can "
			   "speak for this host.\n"
			   "# Never copy it to another host. Without it hp3d makes a new one.\n";

static int draw_seed(uint8_t seed[HP3_SEED_LEN], FILE *err)
{
	if (getrandom(seed, HP3_SEED_LEN, 0) == (ssize_t)HP3_SEED_LEN)
		return 0;
	fprintf(err, "the kernel has no random numbers: %s\n", strerror(errno));
	return -EIO;
}

/* --- checks of the folder and the file --- */

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Reports the errno of a call for the file or its folder. Returns it, negated. */
static int report_file_error(const char *folder, FILE *err)
{
	int error = errno;

	fprintf(err,
		"%s/" NAME ": %s: remove it, and hp3d makes a new one, or set [service] state\n",
		folder, strerror(error));
	return -error;
}

static int check_folder(const char *folder, int fd, FILE *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return report_file_error(folder, err);
	if (is_ours(&st) && (st.st_mode & 022) == 0)
		return 0;
	fprintf(err,
		"%s: others can replace this host's identity there: chown root %s; chmod 700 %s\n",
		folder, folder, folder);
	return -EPERM;
}

static int check_file(const char *folder, int fd, FILE *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return report_file_error(folder, err);
	if (!S_ISREG(st.st_mode) || st.st_size > TEXT_MAX) {
		fprintf(err,
			"%s/" NAME
			": no identity: it has to be a small regular file; remove it, and "
			"hp3d makes a new one\n",
			folder);
		return -EINVAL;
	}
	if (is_ours(&st) && (st.st_mode & 077) == 0)
		return 0;
	fprintf(err,
		"%s/" NAME ": others could read or change this host's identity (owner %u, mode "
		"%04o): remove it, and hp3d makes a new one\n",
		folder, st.st_uid, st.st_mode & 07777);
	return -EPERM;
}

/* --- the text of the file --- */

static void fingerprint_of(char text[HP3_FINGERPRINT_LEN], const uint8_t seed[HP3_SEED_LEN])
{
	struct hp3_identity id;

	hp3_identity_from_seed(&id, seed);
	hp3_fingerprint(text, id.public);
	explicit_bzero(&id, sizeof(id));
}

/* Parses the file's text. False: it has no identity. */
static bool take_text(char *text, uint8_t seed[HP3_SEED_LEN])
{
	char *rest = NULL, fingerprint[HP3_FINGERPRINT_LEN];
	const char *hex = NULL, *print;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL && hex == NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "x25519 ", 7) == 0)
			hex = line + 7;
	}
	if (hex == NULL)
		return false;
	print = strchr(hex, ' ');
	if (print == NULL || print - hex != SEED_HEX)
		return false;
	if (strspn(hex, "0123456789abcdef") != SEED_HEX)
		return false;
	sodium_hex2bin(seed, HP3_SEED_LEN, hex, SEED_HEX, NULL, NULL, NULL);
	fingerprint_of(fingerprint, seed);
	return strcmp(print + 1, fingerprint) == 0;
}

static int read_seed(const char *folder, int fd, uint8_t seed[HP3_SEED_LEN], FILE *err)
{
	char text[TEXT_MAX + 1];
	ssize_t n;
	int ret = check_file(folder, fd, err);

	if (ret < 0)
		return ret;
	n = read(fd, text, TEXT_MAX);
	if (n < 0)
		return report_file_error(folder, err);
	text[n] = '\0';
	if (!take_text(text, seed)) {
		fprintf(err,
			"%s/" NAME
			": it is damaged: remove it, and hp3d makes a new one; peers take "
			"that after 10 s without the old one\n",
			folder);
		ret = -EINVAL;
	}
	explicit_bzero(text, sizeof(text));
	return ret;
}

static int write_text(int fd, const uint8_t seed[HP3_SEED_LEN])
{
	char text[TEXT_MAX], hex[SEED_HEX + 1], fingerprint[HP3_FINGERPRINT_LEN];
	int n;
	bool written;

	sodium_bin2hex(hex, sizeof(hex), seed, HP3_SEED_LEN);
	fingerprint_of(fingerprint, seed);
	n = snprintf(text, sizeof(text), "%sx25519 %s %s\n", head, hex, fingerprint);
	written = write(fd, text, (size_t)n) == n && fsync(fd) == 0;
	explicit_bzero(text, sizeof(text));
	explicit_bzero(hex, sizeof(hex));
	return written ? 0 : -(errno != 0 ? errno : EIO);
}

/* --- the folder --- */

/* Opens a new file. Its name is random: an hp3d in another PID namespace may have the same PID. */
static int open_new(int dir, char name[NAME_MAX + 1])
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -1;
	snprintf(name, NAME_MAX + 1, "." NAME ".%016llx", (unsigned long long)random);
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/*
 * Writes the file. With `replace`, an existing file is replaced; without, -EEXIST if there is one.
 */
static int write_file(int dir, const uint8_t seed[HP3_SEED_LEN], bool replace)
{
	char name[NAME_MAX + 1];
	int fd = open_new(dir, name), ret;

	if (fd < 0)
		return -errno;
	errno = 0;
	ret = write_text(fd, seed);
	close(fd);
	if (ret == 0)
		ret = replace ? renameat(dir, name, dir, NAME) : linkat(dir, name, dir, NAME, 0);
	if (ret == -1)
		ret = -errno;
	unlinkat(dir, name, 0);
	if (ret == 0)
		fsync(dir);
	return ret;
}

static int in_memory(const char *folder, int error, FILE *err)
{
	fprintf(err,
		"%s: %s: this host's identity is kept in memory only, and hp3d has another one "
		"after a restart, which its peers take after 10 s; let hp3d write there, or set "
		"[service] state\n",
		folder, strerror(error));
	return HP3_IDENTITY_IN_MEMORY;
}

static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -1;
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_file(int dir)
{
	return openat(dir, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

struct place {
	const char *folder;
	int dir; /* the folder */
	const struct hp3_identity
		*copied; /* for replace_file(): the identity that another host has, too */
	FILE *err;
};

/* Reads the file to `seed`. If there is none, writes one with `seed`. */
static int read_or_make(const struct place *at, uint8_t seed[HP3_SEED_LEN])
{
	int fd = open_file(at->dir), ret;

	if (fd < 0 && errno == ENOENT) {
		ret = write_file(at->dir, seed, false);
		if (ret == 0)
			return HP3_IDENTITY_MADE;
		if (ret != -EEXIST)
			return in_memory(at->folder, -ret, at->err);
		/* another hp3d, which is starting at the same time, wrote it */
		fd = open_file(at->dir);
	}
	if (fd < 0)
		return report_file_error(at->folder, at->err);
	ret = read_seed(at->folder, fd, seed, at->err);
	close(fd);
	return ret < 0 ? ret : HP3_IDENTITY_READ;
}

/*
 * Opens and locks the file; -1: there is no valid file. Because of the lock, hp3ds of this host
 * replace the file one after the other. Other users cannot lock the file, because they cannot open
 * it.
 */
static int lock_file(const struct place *at)
{
	for (;;) {
		struct stat held, is;
		int fd = open_file(at->dir);

		if (fd < 0)
			return -1;
		if (check_file(at->folder, fd, at->err) < 0 || flock(fd, LOCK_EX) < 0 ||
			fstat(fd, &held) < 0 ||
			fstatat(at->dir, NAME, &is, AT_SYMLINK_NOFOLLOW) < 0) {
			close(fd);
			return -1;
		}
		if (held.st_ino == is.st_ino && held.st_dev == is.st_dev)
			return fd;
		close(fd); /* the file was replaced before it was locked */
	}
}

/* Has another hp3d replaced the copied identity in the file? If so, sets `seed`. */
static bool is_replaced(const struct place *at, int fd, uint8_t seed[HP3_SEED_LEN])
{
	struct hp3_identity id;
	uint8_t is[HP3_SEED_LEN];
	bool replaced = false;

	if (fd >= 0 && read_seed(at->folder, fd, is, at->err) == 0) {
		hp3_identity_from_seed(&id, is);
		replaced = memcmp(id.public, at->copied->public, sizeof(id.public)) != 0;
		if (replaced)
			memcpy(seed, is, sizeof(is));
		explicit_bzero(&id, sizeof(id));
	}
	explicit_bzero(is, sizeof(is));
	return replaced;
}

static int replace_file(const struct place *at, uint8_t seed[HP3_SEED_LEN])
{
	int fd = lock_file(at), ret = HP3_IDENTITY_READ;

	if (!is_replaced(at, fd, seed)) {
		ret = write_file(at->dir, seed, true);
		ret = ret == 0 ? HP3_IDENTITY_MADE : in_memory(at->folder, -ret, at->err);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

typedef int in_folder_fn(const struct place *at, uint8_t seed[HP3_SEED_LEN]);

static int open_and(in_folder_fn *what, const char *folder, struct hp3_identity *id, FILE *err)
{
	struct place at = {.folder = folder, .copied = id, .err = err};
	uint8_t seed[HP3_SEED_LEN];
	int ret = draw_seed(seed, err);

	if (ret == 0 && folder[0] == '\0') {
		ret = HP3_IDENTITY_IN_MEMORY;
	} else if (ret == 0) {
		at.dir = open_folder(folder);
		ret = at.dir < 0 ? in_memory(folder, errno, err)
				 : check_folder(folder, at.dir, err);
		if (at.dir >= 0 && ret == 0)
			ret = what(&at, seed);
		if (at.dir >= 0)
			close(at.dir);
	}
	hp3_identity_from_seed(id, seed);
	explicit_bzero(seed, sizeof(seed));
	return ret;
}

int hp3_identity_file_open(const char *folder, struct hp3_identity *id, FILE *err)
{
	return open_and(read_or_make, folder, id, err);
}

int hp3_identity_file_renew(const char *folder, struct hp3_identity *id, FILE *err)
{
	return open_and(replace_file, folder, id, err);
}
