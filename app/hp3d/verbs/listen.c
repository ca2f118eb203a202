/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket: its path, and who may connect. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"

#define BACKLOG    64
#define GROUPS_MAX 1024u

static int fail_socket(const struct hp3d_verbs_mode *b, int err, const char *what, const char *fix)
{
	fprintf(stderr, "hp3d: [verbs] socket = \"%s\": %s: %s; %s\n", b->path, what, strerror(err),
		fix);
	return -err;
}

static int find_group(struct hp3d_verbs_mode *b, const char *name)
{
	struct group *g;

	if (name[0] == '\0')
		return 0;
	errno = 0;
	g = getgrnam(name);
	if (g == NULL) {
		fprintf(stderr,
			"hp3d: [verbs] group = \"%s\": there is no such group: make it (groupadd "
			"%s), or name another one\n",
			name, name);
		return -ENOENT;
	}
	b->group = g->gr_gid;
	b->by_group = true;
	return 0;
}

/* Removes a socket file that no process serves any more. */
static int make_room(const struct hp3d_verbs_mode *b, const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), err = 0;
	struct stat st;

	if (fd < 0)
		return fail_socket(b, errno, "cannot be made", "raise the limit of open files");
	if (lstat(b->path, &st) == 0 && !S_ISSOCK(st.st_mode))
		err = EEXIST;
	else if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 || errno == EAGAIN)
		err = EADDRINUSE;
	close(fd);
	if (err != 0)
		return fail_socket(b, err, "is taken",
			"remove it, stop the process that serves it, or name another path");
	unlink(b->path);
	return 0;
}

/* No other user can connect before the group is set. No call follows a symbolic link. */
static int bind_to(struct hp3d_verbs_mode *b, const struct sockaddr_un *at)
{
	if (fchmod(b->listener, 0600) == 0 &&
		bind(b->listener, (const struct sockaddr *)at, sizeof(*at)) == 0 &&
		(!b->by_group ||
			(lchown(b->path, (uid_t)-1, b->group) == 0 &&
				fchmodat(AT_FDCWD, b->path, 0660, AT_SYMLINK_NOFOLLOW) == 0)) &&
		listen(b->listener, BACKLOG) == 0)
		return 0;
	return fail_socket(b, errno, "cannot be served",
		"its directory has to exist and be writable, and [verbs] group one that hp3d may "
		"give files to");
}

int hp3d_verbs_listen(struct hp3d_verbs_mode *b, const struct hp3_config *cfg)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int rc = find_group(b, cfg->verbs.group);

	snprintf(b->path, sizeof(b->path), "%s", cfg->verbs.socket);
	memcpy(at.sun_path, b->path, sizeof(at.sun_path));
	if (rc == 0)
		rc = make_room(b, &at);
	if (rc < 0)
		return rc;
	b->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (b->listener < 0)
		return fail_socket(b, errno, "cannot be made", "raise the limit of open files");
	return bind_to(b, &at);
}

/* Is the peer in the group, by its primary or any other group? */
static bool is_member(const struct hp3d_verbs_mode *b, int fd, gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);

	if (!b->by_group)
		return false;
	if (gid == b->group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == b->group)
			return true;
	return false;
}

int hp3d_verbs_accept(struct hp3d_verbs_mode *b, pid_t *pid, uid_t *uid)
{
	int fd = accept4(b->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct ucred who;
	socklen_t len = sizeof(who);

	if (fd < 0)
		return -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
		(who.uid == 0 || who.uid == geteuid() || is_member(b, fd, who.gid))) {
		*pid = who.pid;
		*uid = who.uid;
		return fd;
	}
	hp3d_verbs_set_counter(&b->c.refused_user, b->c.refused_user + 1);
	close(fd);
	return -1;
}
