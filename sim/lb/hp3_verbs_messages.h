/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages between the application (hp3_verbs_app.c) and hp3d (hp3_verbs.c). A message wakes its
 * receiver. The application sends UP, DRAINED, MOVED and FAILED. hp3d sends the others, POLL to
 * itself.
 */
#include "sim/lb/hp3_verbs.h"

enum hp3_verbs_message {
	HP3_VERBS_MSG_UP,
	HP3_VERBS_MSG_SUSPEND,
	HP3_VERBS_MSG_MOVE,
	HP3_VERBS_MSG_MOVE_NOW,
	HP3_VERBS_MSG_RESUME,
	HP3_VERBS_MSG_STAY,
	HP3_VERBS_MSG_DRAINED,
	HP3_VERBS_MSG_MOVED,
	HP3_VERBS_MSG_FAILED,
	HP3_VERBS_MSG_POLL,
};

static inline struct hp3_verbs_flow *verbs_of(struct sim_flow *f)
{
	return (struct hp3_verbs_flow *)f->lb;
}

void hp3_verbs_send(
	struct sim *s, struct sim_flow *f, enum hp3_verbs_message message, uint16_t port);

/* Stops posting. When all posted work has completed, takes the port `to`, or sends DRAINED if `to`
 * is 0. */
void hp3_verbs_suspend(struct sim *s, struct sim_flow *f, uint16_t to);
/*
 * at_once: leaves a dead path, on which outstanding work would never complete. hp3d sends MOVE
 * without SUSPEND only to a new queue pair, as its first path. If its wait is over and it has
 * posted work, it drains first.
 */
void hp3_verbs_move(struct sim *s, struct sim_flow *f, uint16_t port, bool at_once);
void hp3_verbs_resume(struct sim *s, struct sim_flow *f);
