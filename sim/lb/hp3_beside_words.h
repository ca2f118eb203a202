/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_LB_HP3_BESIDE_WORDS_H
#define HP3_SIM_LB_HP3_BESIDE_WORDS_H
/*
 * Between the application (hp3_beside_app.c) and hp3d (hp3_beside.c): what one side says to the
 * other, which wakes, and hears. The application says UP, DRAINED, MOVED and FAILED.
 */
#include "sim/lb/hp3_beside.h"

enum hp3_beside_word {
	HP3_WORD_UP,
	HP3_WORD_SUSPEND,
	HP3_WORD_MOVE,
	HP3_WORD_MOVE_NOW,
	HP3_WORD_RESUME,
	HP3_WORD_STAY,
	HP3_WORD_DRAINED,
	HP3_WORD_MOVED,
	HP3_WORD_FAILED,
	HP3_WORD_LOOK,
};

static inline struct hp3_beside_flow *beside_of(struct sim_flow *f)
{
	return (struct hp3_beside_flow *)f->lb;
}

void hp3_beside_say(struct sim *s, struct sim_flow *f, enum hp3_beside_word word, uint16_t port);

/* Posts no more; says DRAINED when all has completed, or takes the port `to` (0: none yet). */
void hp3_beside_suspend(struct sim *s, struct sim_flow *f, uint16_t to);
/*
 * `at_once`: off a dead path, where what is outstanding would never complete. One that nobody
 * suspended is for a queue pair that waits for a path; it drains if it waits no more.
 */
void hp3_beside_move(struct sim *s, struct sim_flow *f, uint16_t port, bool at_once);
void hp3_beside_resume(struct sim *s, struct sim_flow *f);

#endif
