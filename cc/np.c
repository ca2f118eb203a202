/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/np.h"

enum hp3_np_do hp3_np_ce(
	struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d, uint64_t now)
{
	if (!peer_hp3d)
		return HP3_NP_NONE;
	if (p->mode == HP3_NP_BECN) {
		flow->becn = true;
		return HP3_NP_NONE;
	}
	if (now < flow->next)
		return HP3_NP_NONE;
	flow->next = now + p->min_time_between_cnps * UINT64_C(1000);
	return HP3_NP_SEND_CNP;
}

enum hp3_np_do hp3_np_ack(struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d)
{
	bool becn = flow->becn;

	flow->becn = false;
	return becn && peer_hp3d && p->mode == HP3_NP_BECN ? HP3_NP_SET_BECN : HP3_NP_NONE;
}
