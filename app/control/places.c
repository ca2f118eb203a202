/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/control/clients.h"
#include <errno.h>

static unsigned count_connections(const struct hp3d_client *c, unsigned n, uid_t uid)
{
	unsigned of = 0;

	for (unsigned i = 0; i < n; i++)
		of += c[i].guest && c[i].uid == uid;
	return of;
}

/* The index of this guest's client whose last request is the oldest; n: none. */
static unsigned oldest_of(const struct hp3d_client *c, unsigned n, uid_t uid)
{
	unsigned best = n;

	for (unsigned i = 0; i < n; i++)
		if (c[i].guest && c[i].uid == uid &&
			(best == n || c[i].asked_ms < c[best].asked_ms))
			best = i;
	return best;
}

/* The same for the guest with the most clients; n: there is no guest. */
static unsigned oldest_guest(const struct hp3d_client *c, unsigned n)
{
	unsigned most = 0, best = n;

	for (unsigned i = 0; i < n; i++) {
		unsigned of = c[i].guest ? count_connections(c, n, c[i].uid) : 0;

		if (of > most) {
			most = of;
			best = oldest_of(c, n, c[i].uid);
		}
	}
	return best;
}

static unsigned idle_own(const struct hp3d_client *c, unsigned n, uint64_t now_ms)
{
	unsigned best = n;

	for (unsigned i = 0; i < n; i++)
		if (!c[i].guest && now_ms - c[i].asked_ms >= HP3D_PLACES_IDLE_MS &&
			(best == n || c[i].asked_ms < c[best].asked_ms))
			best = i;
	return best;
}

bool hp3d_places_open(const struct hp3d_client *c, unsigned n, unsigned max, uint64_t now_ms)
{
	return n < max || oldest_guest(c, n) < n || idle_own(c, n, now_ms) < n;
}

int hp3d_places_for(const struct hp3d_client *c, unsigned n, unsigned max,
	const struct hp3d_client *comes, uint64_t now_ms)
{
	unsigned who;

	if (comes->guest && count_connections(c, n, comes->uid) >= HP3D_PLACES_EACH)
		return (int)oldest_of(c, n, comes->uid);
	if (n < max - (comes->guest ? HP3D_PLACES_OWN : 0))
		return (int)n;
	who = oldest_guest(c, n);
	if (who == n && !comes->guest)
		who = idle_own(c, n, now_ms);
	return who < n ? (int)who : -EBUSY;
}
