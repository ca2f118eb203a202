/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module is the control socket of hp3d and hp3-fabric, which answers lines of JSON. The
 * functions of this header listen, also on hp3d's other Unix sockets. client.h serves clients, and
 * reply.h builds answers. The program defines the requests. The module calls nothing else of hp3.
 *
 * The Unix socket has mode 0600, or 0660 with a group. Only one process serves a path. A process
 * first claims the path; the claim fails while another process has the path. To listen, the process
 * then replaces a socket file that no process serves any more. A claim lasts until the process
 * releases it or ends. The claim is a lock on PATH.lock, which no other user can take.
 */
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

struct hp3d_control_socket {
	int fd; /* -1: not listening */
	int lock; /* -1: not claimed */
	int type; /* SOCK_STREAM, unless the caller changes it before it listens */
	const char *section; /* section of the configuration with the key socket=, for messages */
	gid_t group; /* group whose members may connect (mode 0660) */
	bool by_group;
	struct sockaddr_un addr;
};

/*
 * The next three functions return 0, or a negative errno after a message on stderr. The message
 * names the fix: socket= in the section `section` of the configuration.
 *
 * Claims the path, and creates missing directories. If another process has the path, prints a
 * message and waits up to wait_ms for that process to end.
 */
int hp3d_control_claim(
	struct hp3d_control_socket *s, const char *path, const char *section, unsigned wait_ms);
/* Allows members of this group to connect. "": no group. */
int hp3d_control_group(struct hp3d_control_socket *s, const char *name);
/* Listens on the claimed path. */
int hp3d_control_listen(struct hp3d_control_socket *s);
/* Closes the socket, and removes the socket's file unless another process serves that file. The
 * claim stays. */
void hp3d_control_unlisten(struct hp3d_control_socket *s);
void hp3d_control_release(struct hp3d_control_socket *s);

/*
 * A lock for one process at a time: a file that only its owner can open, so that no other user can
 * take the lock. The file has the holder's process id. The kernel releases the lock when the
 * process ends.
 */

/*
 * Returns the lock's descriptor, or a negative errno. -EWOULDBLOCK: another process still has the
 * lock after `wait_ms`; *holder: the id of that process (0: not written yet).
 */
int hp3d_lock_take(const char *path, unsigned wait_ms, int *holder);
/* Releases the lock, and removes its file. */
void hp3d_lock_free(const char *path, int lock);
