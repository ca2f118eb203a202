/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/control/socket.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG   128
#define LOCK_PATH (sizeof(((struct sockaddr_un *)0)->sun_path) + 8)

static __attribute__((format(printf, 2, 3))) int fail_socket(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("hp3d: socket ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return -err;
}

static void copy_parent(const char *path, char *dir)
{
	strcpy(dir, path);
	dir[strrchr(dir, '/') - dir] = '\0';
	if (!*dir)
		strcpy(dir, "/");
}

/* mkdir -p */
static int make_directory(const struct hp3d_control_socket *s, char *dir)
{
	for (char *p = dir; p;) {
		p = strchr(p + 1, '/');
		if (p)
			*p = '\0';
		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			return fail_socket(errno,
				"%s: cannot create %s: %s; create it, or set socket= in [%s] to a "
				"place that can be written",
				s->addr.sun_path, dir, strerror(errno), s->section);
		if (p)
			*p = '/';
	}
	return 0;
}

static void lock_path(const struct hp3d_control_socket *s, char path[LOCK_PATH])
{
	snprintf(path, LOCK_PATH, "%s.lock", s->addr.sun_path);
}

/* Does a process listen at this address? 0: no; 1: yes; a negative errno: unknown. */
static int has_listener(const struct hp3d_control_socket *s)
{
	int err = 0, fd = socket(AF_UNIX, s->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&s->addr, sizeof(s->addr)) < 0)
		err = errno;
	close(fd);
	return err != ECONNREFUSED && err != ENOENT; /* EAGAIN: its backlog is full */
}

/* Removes a socket that no process serves. */
static int replace_stale(const struct hp3d_control_socket *s)
{
	const char *path = s->addr.sun_path;
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0)
		return errno == ENOENT
			       ? 0
			       : fail_socket(errno, "%s: %s; set socket= in [%s] to another place",
					 path, strerror(errno), s->section);
	if (!S_ISSOCK(st.st_mode))
		return fail_socket(EEXIST,
			"%s: the file exists and is not a socket; remove it, or set socket= in "
			"[%s] to another path",
			path, s->section);
	rc = has_listener(s);
	if (rc < 0)
		return fail_socket(
			-rc, "%s: %s; raise the limit of open files", path, strerror(-rc));
	if (rc)
		return fail_socket(EADDRINUSE,
			"%s: another program serves it (see: fuser %s); stop that program, or "
			"set socket= in [%s] to another path",
			path, path, s->section);
	if (unlink(path) < 0 && errno != ENOENT)
		return fail_socket(errno,
			"%s: cannot remove the stale socket: %s; remove it by hand", path,
			strerror(errno));
	return 0;
}

int hp3d_control_group(struct hp3d_control_socket *s, const char *name)
{
	struct group *g;

	if (name[0] == '\0')
		return 0;
	errno = 0;
	g = getgrnam(name);
	if (g == NULL && (errno == EIO || errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return fail_socket(errno,
			"%s: group= in [%s]: cannot look up the group %s: %s; see "
			"/etc/nsswitch.conf, or leave group= empty",
			s->addr.sun_path, s->section, name, strerror(errno));
	if (g == NULL)
		return fail_socket(ENOENT,
			"%s: group= in [%s]: there is no group %s; make it (groupadd --system %s), "
			"or name another one",
			s->addr.sun_path, s->section, name, name);
	s->group = g->gr_gid;
	s->by_group = true;
	return 0;
}

/*
 * Gives the socket to the group, before a client can connect. Neither call follows a symbolic link.
 */
static int give_to_group(const struct hp3d_control_socket *s)
{
	const char *path = s->addr.sun_path;

	if (!s->by_group)
		return 0;
	if (lchown(path, (uid_t)-1, s->group) == 0 &&
		fchmodat(AT_FDCWD, path, 0660, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return fail_socket(errno,
		"%s: group= in [%s]: cannot give it to that group: %s; have hp3d be a member of "
		"the group (SupplementaryGroups= of its unit), or leave group= empty",
		path, s->section, strerror(errno));
}

/* Closes the socket after an error. */
static int given_up(struct hp3d_control_socket *s, int ret)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	return ret;
}

static int open_socket(struct hp3d_control_socket *s)
{
	int err, rc;

	s->fd = socket(AF_UNIX, s->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/*
	 * The mode of the socket before bind() becomes the mode of the file, so the file is never
	 * open to others.
	 */
	if (s->fd >= 0 && fchmod(s->fd, 0600) == 0 &&
		bind(s->fd, (const struct sockaddr *)&s->addr, sizeof(s->addr)) == 0) {
		rc = give_to_group(s);
		if (rc < 0)
			return given_up(s, rc);
		if (listen(s->fd, BACKLOG) == 0)
			return 0;
	}
	err = errno;
	return given_up(
		s, fail_socket(err, "%s: %s; set socket= in [%s] to a place that can be written",
			   s->addr.sun_path, strerror(err), s->section));
}

/* Takes the lock; prints the process that it waits for. */
static int take_lock(const struct hp3d_control_socket *s, const char *lock, unsigned wait_ms)
{
	const char *path = s->addr.sun_path;
	int holder, ret = hp3d_lock_take(lock, 0, &holder);

	if (ret == -EWOULDBLOCK && wait_ms > 0) {
		fprintf(stderr,
			"hp3d: %s belongs to process %d: waiting up to %.1f s for its end\n", path,
			holder, wait_ms / 1e3);
		ret = hp3d_lock_take(lock, wait_ms, &holder);
	}
	if (ret == -EWOULDBLOCK)
		return fail_socket(EWOULDBLOCK,
			"%s: process %d has it; stop that one (kill %d), or set socket= in [%s] to "
			"another path, file_prefix= in [eal] to another name, and use other ports",
			path, holder, holder, s->section);
	if (ret == -EPERM)
		return fail_socket(EPERM,
			"%s: %s was made by another user, or is open to others; rm %s", path, lock,
			lock);
	if (ret < 0)
		return fail_socket(-ret,
			"%s: cannot lock %s: %s; set socket= in [%s] to a place that can be "
			"written",
			path, lock, strerror(-ret), s->section);
	return ret;
}

int hp3d_control_claim(
	struct hp3d_control_socket *s, const char *path, const char *section, unsigned wait_ms)
{
	char dir[sizeof(s->addr.sun_path)], lock[LOCK_PATH];
	int rc;

	*s = (struct hp3d_control_socket){.fd = -1,
		.lock = -1,
		.type = SOCK_STREAM,
		.section = section,
		.addr.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(s->addr.sun_path) || *path != '/')
		return fail_socket(EINVAL,
			"%s: set socket= in [%s] to an absolute path of at most %zu bytes", path,
			section, sizeof(s->addr.sun_path) - 1);
	strcpy(s->addr.sun_path, path);
	copy_parent(path, dir);
	rc = make_directory(s, dir);
	if (rc < 0)
		return rc;
	lock_path(s, lock);
	rc = take_lock(s, lock, wait_ms);
	if (rc < 0)
		return rc;
	s->lock = rc;
	return 0;
}

int hp3d_control_listen(struct hp3d_control_socket *s)
{
	int rc = replace_stale(s);

	return rc == 0 ? open_socket(s) : rc;
}

void hp3d_control_unlisten(struct hp3d_control_socket *s)
{
	if (s->fd < 0)
		return;
	close(s->fd);
	s->fd = -1;
	/* Another process may have replaced the file. */
	if (has_listener(s) == 0)
		unlink(s->addr.sun_path);
}

void hp3d_control_release(struct hp3d_control_socket *s)
{
	char lock[LOCK_PATH];

	if (s->lock < 0)
		return;
	lock_path(s, lock);
	hp3d_lock_free(lock, s->lock);
	s->lock = -1;
}
