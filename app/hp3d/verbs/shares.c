/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's share of max_flows and max_pairs, like peers' shares of agreements
 * (engine/spray/quota.h). */
#include <unistd.h>
#include "app/hp3d/verbs/internal.h"
#include "engine/info.h"

static bool is_unlimited_user(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

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

	return is_unlimited_user(uid) ||
	       has_share(b, uid, hp3_pair_find(e, HP3_ENDS(qp)) == UINT32_MAX);
}
