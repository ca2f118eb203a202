/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_PLACES_H
#define HP3D_CONTROL_PLACES_H
/*
 * Who gets one of a bounded number of places, and who gives his up: those that keep a connection
 * and ask nothing do not lock others out. The owner is root or who the process runs as; whoever
 * else may connect, since the socket's mode or owner was changed, is a guest.
 *
 * A guest has HP3D_PLACES_EACH at most, and guests leave HP3D_PLACES_OWN to the owner: who comes
 * then takes the place of a guest, of that user himself or of him who has most of them. Of the
 * owner's only those give way that have not asked for HP3D_PLACES_IDLE_MS, and only to
 * the owner. Of several it is the one that has not asked for longest; what does not make a request
 * is no question.
 */
#include "app/control/client.h"

#define HP3D_PLACES_EACH    16u
#define HP3D_PLACES_OWN     8u
#define HP3D_PLACES_IDLE_MS 5000u

/* Whether the next one is to be taken from the kernel's backlog; `n` of `max` places are taken. */
bool hp3d_places_open(const struct hp3d_client *c, unsigned n, unsigned max, uint64_t now_ms);
/* The one to be closed for a client that came: its index, n: none, -EBUSY: he has to go himself. */
int hp3d_places_for(const struct hp3d_client *c, unsigned n, unsigned max,
	const struct hp3d_client *comes, uint64_t now_ms);

#endif
