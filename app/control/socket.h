/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_SOCKET_H
#define HP3D_CONTROL_SOCKET_H
/*
 * This module: a socket that answers lines of JSON, as hp3d and hp3-fabric have one. It listens
 * (here), serves clients (client.h) and shapes answers (reply.h); what the requests mean is the
 * program's. It calls nothing of hp3.
 *
 * The listening Unix socket, mode 0600, or 0660 where a group is named. One process serves one
 * path: a socket that nobody serves any more is replaced, one that is being served is refused. Who
 * claims the path has it until released, as long as the process lives: a lock (lock.h) on
 * PATH.lock, which no other user can take.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct hp3d_control_socket {
	int fd; /* -1: not listening */
	int lock; /* -1: not claimed */
	const char *section; /* of hp3.ini, whose key socket= names it */
	gid_t group; /* whose members may connect, mode 0660 */
	bool by_group;
	struct sockaddr_un addr;
};

/*
 * All return 0, or a negative errno after a message on stderr that names the fix: socket= in
 * this section of the configuration.
 *
 * The path is ours from now on. Creates missing directories, too. Where another process has it, its
 * end is awaited for up to wait_ms, and that is said.
 */
int hp3d_control_claim(
	struct hp3d_control_socket *s, const char *path, const char *section, unsigned wait_ms);
/* Its members may connect, too. "": nobody else. */
int hp3d_control_group(struct hp3d_control_socket *s, const char *name);
/* Listens on the path that was claimed. */
int hp3d_control_listen(struct hp3d_control_socket *s);
/* Closes it and removes the file, unless another process serves that by now. The claim stays. */
void hp3d_control_unlisten(struct hp3d_control_socket *s);
void hp3d_control_release(struct hp3d_control_socket *s);

#endif
