/* SPDX-License-Identifier: BSD-3-Clause */
/* The acts that the shell carries out: what arrived first, then ends, messages, and new requests.
 */
#include "xfer/core/inside.h"

static bool received_act(struct hp3x_core *c, struct hp3x_act *act)
{
	if (!c->in_waits)
		return false;
	c->in_waits = false;
	*act = (struct hp3x_act){.kind = HP3X_ACT_RECEIVED, .peer = c->in_peer};
	act->blob.data = c->in;
	act->blob.length = c->in_length;
	return true;
}

bool hp3x_core_act(struct hp3x_core *c, uint64_t now, struct hp3x_act *act)
{
	c->now = now;
	hp3xc_ops_check(c);
	return received_act(c, act) || hp3xc_count_act(c, act) || hp3xc_peer_act(c, act) ||
	       hp3xc_path_act(c, act) || hp3xc_ended_act(c, act) || hp3xc_talk_act(c, act) ||
	       hp3xc_post_act(c, act);
}
