/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CLIENTS_H
#define HP3D_CLIENTS_H
/*
 * The clients of a listening socket: those that came and have a place (places.h tells who gets
 * one). Where nobody gives up a place, further ones wait in the kernel's backlog.
 */
#include "app/control/client.h"

#define HP3D_CLIENTS_MAX 64u

struct hp3d_clients {
	struct hp3d_client c[HP3D_CLIENTS_MAX]; /* the first n are open */
	unsigned n;
};

/* Whether to look for those that come to the listening socket. Times as in client.h. */
bool hp3d_clients_open(const struct hp3d_clients *a, uint64_t now_ms);
/* Takes those that wait at the non-blocking `listener`, as long as there are places. */
void hp3d_clients_accept(struct hp3d_clients *a, int listener, uint64_t now_ms);
/* Closes one; the last takes its place: serve them backwards. */
void hp3d_clients_end(struct hp3d_clients *a, unsigned i);
void hp3d_clients_close(struct hp3d_clients *a);

#endif
