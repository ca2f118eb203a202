/* SPDX-License-Identifier: BSD-3-Clause */
/* Which application gets a place if all are taken. */
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"

static bool is_privileged_user(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static unsigned places_of(const struct hp3d_verbs_mode *b, uid_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		n += b->shims[i].fd >= 0 && b->shims[i].uid == uid;
	return n;
}

/* Must `a` leave before `b`: has its user more places (n_a > n_b), or with equal numbers, is it
 * newer? */
static bool leaves_before(const struct hp3d_verbs_shim *a, unsigned n_a,
	const struct hp3d_verbs_shim *b, unsigned n_b)
{
	return n_a != n_b ? n_a > n_b : a->since > b->since;
}

int hp3d_verbs_find_place(const struct hp3d_verbs_mode *b, uid_t uid, bool *occupied)
{
	unsigned most = 0;
	int victim = -1;

	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++) {
		const struct hp3d_verbs_shim *s = &b->shims[i];
		unsigned n;

		if (s->fd < 0) {
			*occupied = false;
			return (int)i;
		}
		n = places_of(b, s->uid);
		if (!is_privileged_user(s->uid) &&
			(victim < 0 || leaves_before(s, n, &b->shims[victim], most))) {
			victim = (int)i;
			most = n;
		}
	}
	*occupied = true;
	return victim >= 0 && (is_privileged_user(uid) || most >= places_of(b, uid) + 2) ? victim
											 : -1;
}
