/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket: its path, and who may connect. */
#include <sys/socket.h>
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"

#define GROUPS_MAX 1024u

int hp3d_verbs_listen(struct hp3d_verbs_mode *b, const struct hp3_config *cfg)
{
	int rc = hp3d_control_claim(&b->socket, cfg->verbs.socket, "verbs", 0);

	if (rc == 0)
		rc = hp3d_control_group(&b->socket, cfg->verbs.group);
	b->socket.type = SOCK_SEQPACKET;
	return rc == 0 ? hp3d_control_listen(&b->socket) : rc;
}

/* Is the peer in the group, by its primary or any other group? */
static bool is_member(const struct hp3d_verbs_mode *b, int fd, gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	socklen_t len = sizeof(groups);

	if (!b->socket.by_group)
		return false;
	if (gid == b->socket.group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) < 0)
		return false;
	for (size_t i = 0; i < len / sizeof(groups[0]); i++)
		if (groups[i] == b->socket.group)
			return true;
	return false;
}

int hp3d_verbs_accept(struct hp3d_verbs_mode *b, pid_t *pid, uid_t *uid)
{
	int fd = accept4(b->socket.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
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
