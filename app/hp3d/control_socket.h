/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_SOCKET_H
#define HP3D_CONTROL_SOCKET_H
/*
 * The listening Unix socket of hp3d, mode 0600. One process serves one path: a socket that nobody
 * serves any more is replaced, one that is being served is refused. Two starting at once are told
 * apart by a lock on the directory, held only while starting.
 */
#include <sys/socket.h>
#include <sys/un.h>

struct hp3d_control_socket {
	int fd;
	struct sockaddr_un addr;
};

/* Creates missing directories, too. 0, or a negative errno after a message on stderr that names the
 * fix. */
int hp3d_control_listen(struct hp3d_control_socket *s, const char *path);
/* Closes it and removes the file, unless another process serves that by now. */
void hp3d_control_unlisten(struct hp3d_control_socket *s);

#endif
