/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The clients of a listening socket that have a place (hp3d_places_for() decides which clients get
 * a place). While no client can get a place, further clients wait in the kernel's backlog.
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
/* Closes client i and moves the last client to index i. So loops over clients count downwards. */
void hp3d_clients_end(struct hp3d_clients *a, unsigned i);
void hp3d_clients_close(struct hp3d_clients *a);

/*
 * Assigns a bounded number of places to clients, so that idle connections do not lock others out.
 * The owner is root or the user of this process. Every other user that may connect (by the socket's
 * group, or a changed mode or owner) is a guest.
 *
 * A guest user has at most HP3D_PLACES_EACH places, and guests leave HP3D_PLACES_OWN places to the
 * owner. Beyond these bounds, a new client takes the place of a guest. That guest belongs to the
 * same user, or to the user with the most places. A client of the owner loses its place only to
 * another client of the owner, after HP3D_PLACES_IDLE_MS without a request. Of several candidates,
 * the client whose last complete request is the oldest loses its place.
 */
#define HP3D_PLACES_EACH    16u
#define HP3D_PLACES_OWN     8u
#define HP3D_PLACES_IDLE_MS 5000u

/* Should another client be accepted? `n` of `max` places are taken. */
bool hp3d_places_open(const struct hp3d_client *c, unsigned n, unsigned max, uint64_t now_ms);
/* The index of the client to close for a new one; n: close none; -EBUSY: refuse the new client. */
int hp3d_places_for(const struct hp3d_client *c, unsigned n, unsigned max,
	const struct hp3d_client *comes, uint64_t now_ms);
