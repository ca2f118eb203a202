/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_REPLAY_PAIRS_H
#define HP3D_REPLAY_PAIRS_H
/* Which queue pairs belong together, as one pass of a replay learns it and the next one is told. */
#include "app/hp3d/pipe/pipe.h"

struct hp3d_replay_pairs {
	struct hp3d_event *list; /* HP3_EV_PAIR; free() */
	uint32_t n;
};

/* 0, also for one that is known, or -ENOMEM. */
int hp3d_replay_pairs_learn(struct hp3d_replay_pairs *l, const struct hp3d_event *ev);
void hp3d_replay_pairs_announce(
	const struct hp3d_replay_pairs *l, struct hp3d_pipe *p, uint64_t now);

#endif
