/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_MOVE_H
#define HP3_VERBS_MOVE_H

#include "app/verbs/shim.h"

/*
 * A move of a queue pair: IDLE, DRAINING, SUSPENDED, IDLE.
 *
 * SQD: the RNIC drains its send queue and keeps what is posted meanwhile; nothing is held here.
 * SPORT: work requests are held (hold.h) until what was posted before them has completed.
 * PLACE comes before the first data, and needs no drain: in RTR it waits for RTS, which waits for
 * it, if hp3d is there, a moment. MOVE_NOW leaves a dead path: SQD sends again what was lost.
 * Whatever fails, takes too long or is not wanted any more ends on the old port. An RNIC in SQD may
 * refuse to go back while it drains: RETURNING, asked again until it does, or is in error by
 * itself.
 *
 * Not moved: who lets READs or ATOMICs in, since its answers would change path, too (rule 20); with
 * SPORT, who has not posted and polled through this library (its RNIC may be given work by
 * somebody who cannot be held), and who has no locks.
 *
 * All of it under the queue pair's lock.
 */

/* 0, or too much: our own; place_us 0: none */
void hp3v_move_bounds(uint64_t drain_us, uint64_t hold_us, uint64_t place_us);
#define HP3V_PLACE_NS UINT64_C(10000000) /* at most */
uint64_t hp3v_move_place_ns(void); /* who becomes RTS waits so long for hp3d's command */
uint64_t hp3v_move_longest_ns(void); /* after so long a move is over, but for RETURNING */

/* A new `want`. */
void hp3v_move_command(struct hp3v_qp *q, uint64_t want, uint64_t now);
/* It is in RTS, and nothing was posted: the port that was chosen meanwhile. */
void hp3v_move_ready(struct hp3v_qp *q);
/* What is due. */
void hp3v_move_tick(struct hp3v_qp *q, uint64_t now);
/*
 * hp3d is gone: on the old port. Of what it wanted last and was not seen yet only MOVE_NOW is done,
 * for the next hp3d may be long in coming, and needs time to find out that the path is dead.
 * All else is void: the next one says it anew.
 */
void hp3v_move_forsaken(struct hp3v_qp *q, uint64_t want, uint64_t now);
/*
 * The application takes the queue pair out of RTS: no move any more, what is held waits. Then it is
 * done: what is held is posted, for a queue pair in error to flush it, or is gone with all else.
 */
void hp3v_move_stop(struct hp3v_qp *q);
void hp3v_move_stopped(struct hp3v_qp *q);

static inline bool hp3v_is_moving(const struct hp3v_qp *q)
{
	return __atomic_load_n(&q->step, __ATOMIC_RELAXED) != HP3V_IDLE;
}

#endif
