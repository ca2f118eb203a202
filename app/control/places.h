/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_PLACES_H
#define HP3D_CONTROL_PLACES_H
/*
 * Assigns a bounded number of places to clients, so that idle connections do not lock others out.
 * The owner is root or the user of this process. Every other user that may connect (by the socket's
 * group, or a changed mode or owner) is a guest.
 *
 * A guest user has at most HP3D_PLACES_EACH places, and guests leave HP3D_PLACES_OWN places to the
 * owner. Beyond these bounds, a new client takes the place of a guest: of the same user, or of the
 * user with the most places. A client of the owner loses its place only to another client of the
 * owner, after HP3D_PLACES_IDLE_MS without a request. Of several candidates, the client whose last
 * request is the oldest is closed. Only complete requests count.
 */
#include "app/control/client.h"

#define HP3D_PLACES_EACH    16u
#define HP3D_PLACES_OWN     8u
#define HP3D_PLACES_IDLE_MS 5000u

/* Should another client be accepted? `n` of `max` places are taken. */
bool hp3d_places_open(const struct hp3d_client *c, unsigned n, unsigned max, uint64_t now_ms);
/* The index of the client to close for a new one; n: none; -EBUSY: refuse the new one. */
int hp3d_places_for(const struct hp3d_client *c, unsigned n, unsigned max,
	const struct hp3d_client *comes, uint64_t now_ms);

#endif
