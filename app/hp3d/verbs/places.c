/* SPDX-License-Identifier: BSD-3-Clause */
/* Which application gets a place if all are taken, and a user's share of max_flows and max_pairs,
 * like peers' shares of agreements (engine/spray/quota.h). */
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"
#include "engine/info.h"

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

/* --- shares --- */

_Static_assert(HP3D_PAIR_USERS >= HP3D_VERBS_SHIMS, "an application has one user");

#define ALPHA 2u /* a user may have ALPHA times as many places as are free (dynamic thresholds) */
#define FIRST 8u /* one of FIRST places is reserved for users without any */

static bool may_take_share(uint32_t used, uint32_t free, uint32_t places)
{
	uint32_t kept = places / FIRST;

	if (used == 0)
		return free != 0;
	return free > kept && used + 1 <= ALPHA * (free - kept);
}

static bool has_share(const struct hp3d_verbs_mode *b, uid_t uid, bool with_pair)
{
	const struct hp3_engine *e = hp3d_pipe_engine(b->pipe);
	uint32_t flows = 0, pairs = hp3d_pair_users_count(&b->pair_users, uid);

	for (unsigned i = 0; i < HP3D_VERBS_SHIMS; i++)
		if (b->shims[i].fd >= 0 && b->shims[i].uid == uid)
			flows += b->shims[i].n_active;
	return may_take_share(flows, b->max_flows - hp3_engine_flows(e), b->max_flows) &&
	       (!with_pair ||
		       may_take_share(pairs, b->max_pairs - hp3_engine_pairs(e), b->max_pairs));
}

bool hp3d_verbs_has_share(
	const struct hp3d_verbs_mode *b, unsigned shim, const struct hp3_qp_event *qp)
{
	uid_t uid = b->shims[shim].uid;
	struct hp3_engine *e = hp3d_pipe_engine(b->pipe);

	return is_privileged_user(uid) ||
	       has_share(b, uid, hp3_pair_find(e, HP3_ENDS(qp)) == UINT32_MAX);
}
