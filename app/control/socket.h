/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_SOCKET_H
#define HP3D_CONTROL_SOCKET_H
/*
 * This room: a socket that answers lines of JSON, as hp3d and hp3-fabric have one. It listens
 * (here), serves clients (client.h) and shapes answers (reply.h); what the requests mean is the
 * program's. It calls nothing of hp3.
 *
 * The listening Unix socket, mode 0600. One process serves one path: a socket that nobody
 * serves any more is replaced, one that is being served is refused. Two starting at once are told
 * apart by a lock on the directory, held only while starting.
 */
#include <sys/socket.h>
#include <sys/un.h>

struct hp3d_control_socket {
	int fd;
	const char *section; /* of hp3.ini, whose key socket= names it */
	struct sockaddr_un addr;
};

/* Creates missing directories, too. 0, or a negative errno after a message on stderr that names the
 * fix, socket= in this section of the configuration. */
int hp3d_control_listen(struct hp3d_control_socket *s, const char *path, const char *section);
/* Closes it and removes the file, unless another process serves that by now. */
void hp3d_control_unlisten(struct hp3d_control_socket *s);

#endif
