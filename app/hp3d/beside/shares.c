/* SPDX-License-Identifier: BSD-3-Clause */
/* What of max_flows and max_pairs the queue pairs of a user may take: as peers have shares of
 * agreements (engine/spray/quota.h). */
#include <unistd.h>
#include "app/hp3d/beside/internal.h"
#include "engine/info.h"

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

#define ALPHA 2u /* one may take so many times what is free (dynamic thresholds) */
#define FIRST 8u /* one place of so many is for users who have none */

static bool allows(uint32_t used, uint32_t free, uint32_t places)
{
	uint32_t kept = places / FIRST;

	if (used == 0)
		return free != 0;
	return free > kept && used + 1 <= ALPHA * (free - kept);
}

static bool has_share(const struct hp3d_beside *b, uid_t uid, bool with_pair)
{
	const struct hp3_engine *e = hp3d_pipe_engine(b->pipe);
	uint32_t flows = 0, pairs = 0;

	for (unsigned i = 0; i < HP3D_BESIDE_SHIMS; i++) {
		if (b->shims[i].fd < 0 || b->shims[i].uid != uid)
			continue;
		flows += b->shims[i].n_active;
		pairs += b->shims[i].n_pairs;
	}
	return allows(flows, b->max_flows - hp3_engine_flows(e), b->max_flows) &&
	       (!with_pair || allows(pairs, b->max_pairs - hp3_engine_pairs(e), b->max_pairs));
}

bool hp3d_beside_has_share(
	const struct hp3d_beside *b, unsigned shim, const struct hp3_qp_event *qp)
{
	uid_t uid = b->shims[shim].uid;
	struct hp3_engine *e = hp3d_pipe_engine(b->pipe);

	return is_ours(uid) || has_share(b, uid, hp3_pair_find(e, HP3_ENDS(qp)) == UINT32_MAX);
}

void hp3d_beside_pair_begins(struct hp3d_beside *b, unsigned shim, uint32_t pair)
{
	if (b->makers[pair] != 0)
		return;
	b->makers[pair] = (uint16_t)(shim + 1);
	b->shims[shim].n_pairs++;
}

void hp3d_beside_pair_ends(struct hp3d_beside *b, uint32_t pair)
{
	if (b->makers[pair] == 0 || hp3_pair_is_used(hp3d_pipe_engine(b->pipe), pair))
		return;
	b->shims[b->makers[pair] - 1].n_pairs--;
	b->makers[pair] = 0;
}

void hp3d_beside_pairs_forget(struct hp3d_beside *b, unsigned shim)
{
	for (uint32_t i = 0; b->shims[shim].n_pairs != 0 && i < b->max_pairs; i++) {
		if (b->makers[i] != shim + 1)
			continue;
		b->makers[i] = 0;
		b->shims[shim].n_pairs--;
	}
}
