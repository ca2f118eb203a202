/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3ctl/hp3ctl.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <archive.h>
#include <archive_entry.h>
#include <sys/wait.h>
#include "base/plain.h"

#define OUTPUT_MAX (4u << 20)
#define PATIENCE_S 10
#define MODE       0600

struct hp3ctl_tarball {
	struct archive *tar;
	int fd;
};

struct hp3ctl_tarball *hp3ctl_tarball_create(const char *path)
{
	struct hp3ctl_tarball *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return NULL;
	a->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
	err = errno;
	a->tar = a->fd >= 0 ? archive_write_new() : NULL;
	if (a->tar && archive_write_add_filter_gzip(a->tar) == ARCHIVE_OK &&
		archive_write_set_format_pax_restricted(a->tar) == ARCHIVE_OK &&
		archive_write_open_fd(a->tar, a->fd) == ARCHIVE_OK)
		return a;
	if (a->fd >= 0) {
		err = EIO;
		unlink(path);
	}
	hp3ctl_tarball_close(a);
	errno = err;
	return NULL;
}

static int error_of(const struct hp3ctl_tarball *a)
{
	int err = archive_errno(a->tar);

	return err > 0 ? -err : -EIO;
}

int hp3ctl_tarball_add(struct hp3ctl_tarball *a, const char *name, const char *data, size_t len)
{
	struct archive_entry *e = archive_entry_new();
	int rc = -ENOMEM;

	if (!e)
		return rc;
	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)len);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, MODE);
	archive_entry_set_mtime(e, time(NULL), 0);
	rc = archive_write_header(a->tar, e) == ARCHIVE_OK &&
			     archive_write_data(a->tar, data, len) == (la_ssize_t)len
		     ? 0
		     : error_of(a);
	archive_entry_free(e);
	return rc;
}

/* Reads to the end, or until the time-out. False: incomplete. */
static bool read_output(int fd, char *buf, size_t *n)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	time_t end = time(NULL) + PATIENCE_S;
	ssize_t got;

	while (*n < OUTPUT_MAX && time(NULL) < end) {
		int ready = poll(&polled, 1, 200);

		if (ready < 0 && errno != EINTR)
			return false;
		if (ready <= 0)
			continue;
		got = read(fd, buf + *n, OUTPUT_MAX - *n);
		if (got <= 0)
			return got == 0;
		*n += (size_t)got;
	}
	return false;
}

static int redirect_output(posix_spawn_file_actions_t *actions, int out)
{
	int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, out, STDERR_FILENO);
	return rc;
}

/* Starts the program with both outputs in a pipe; -errno if it does not start. */
static pid_t start_program(const char *const *argv, int *out)
{
	posix_spawn_file_actions_t actions;
	extern char **environ;
	pid_t child = 0;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		rc = redirect_output(&actions, ends[1]);
		if (rc == 0)
			rc = posix_spawnp(
				&child, argv[0], &actions, NULL, (char *const *)argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	*out = ends[0];
	if (rc == 0)
		return child;
	close(ends[0]);
	return -rc;
}

int hp3ctl_tarball_add_output(struct hp3ctl_tarball *a, const char *name, const char *const *argv)
{
	char *buf = malloc(OUTPUT_MAX + 128);
	int out = -1, status = 0, rc;
	size_t n = 0;
	pid_t child;

	if (!buf)
		return -ENOMEM;
	child = start_program(argv, &out);
	if (child < 0) {
		n = (size_t)sprintf(buf, "%.64s: %s\n", argv[0], strerror(-child));
	} else {
		if (!read_output(out, buf, &n)) {
			kill(child, SIGKILL);
			n += (size_t)sprintf(buf + n, "\n(cut off)\n");
		}
		close(out);
		waitpid(child, &status, 0);
		hp3_plain_lines(buf, n); /* it has names from containers */
		if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
			n += (size_t)sprintf(buf + n, "(exit code %d)\n", WEXITSTATUS(status));
	}
	rc = hp3ctl_tarball_add(a, name, buf, n);
	free(buf);
	return rc;
}

int hp3ctl_tarball_close(struct hp3ctl_tarball *a)
{
	int rc = 0;

	if (a->tar) {
		if (archive_write_close(a->tar) != ARCHIVE_OK)
			rc = error_of(a);
		archive_write_free(a->tar);
	}
	if (a->fd >= 0 && close(a->fd) < 0 && rc == 0)
		rc = -errno;
	free(a);
	return rc;
}
