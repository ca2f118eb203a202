/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CLIENTS_H
#define HP3D_CLIENTS_H
/*
 * The clients of a listening socket that have a place (places.h decides who gets one). While none
 * can get one, further clients wait in the kernel's backlog.
 */
#include "app/control/client.h"

#define HP3D_CLIENTS_MAX 64u

struct hp3d_clients {
	struct hp3d_client c[HP3D_CLIENTS_MAX]; /* the first n are open */
	unsigned n;
};

/* Should the caller poll the listening socket? Times as in client.h. */
bool hp3d_clients_open(const struct hp3d_clients *a, uint64_t now_ms);
/* Accepts clients from the non-blocking `listener` while there are places. */
void hp3d_clients_accept(struct hp3d_clients *a, int listener, uint64_t now_ms);
/* Closes client i and moves the last one to index i. So loops over clients count downwards. */
void hp3d_clients_end(struct hp3d_clients *a, unsigned i);
void hp3d_clients_close(struct hp3d_clients *a);

#endif
