/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A move of a queue pair: IDLE, DRAINING, SUSPENDED, IDLE.
 *
 * SQD: the RNIC drains its send queue, and keeps work requests that are posted meanwhile; this
 * library holds no work requests. SPORT: work requests are held (hold.h) until those posted before
 * them have completed. PLACE in RTR needs no drain: the port takes effect with RTS, before the
 * first data. If hp3d is connected, the change to RTS waits for PLACE for a short time. MOVE_NOW
 * leaves a dead path without a drain: in SQD, the RNIC retransmits the lost packets on the new
 * path. A move that fails, times out or is cancelled ends on the old port. An RNIC in SQD may
 * refuse RTS while it drains. Then the state is RETURNING, and the library retries until the RNIC
 * is in RTS, or the queue pair is in error.
 *
 * Queue pairs that accept READs or ATOMICs are not moved, because their responses would change
 * path, too (rule 20). With SPORT, two more kinds are not moved. One is queue pairs without posts
 * and polls through this library: their work requests may bypass the library, which then cannot
 * hold them. The other is queue pairs of contexts whose provider omits locks.
 *
 * The caller holds the queue pair's lock.
 */
#include "app/verbs/shim.h"

/* drain_us, hold_us: if 0 or above a second, this library's default. place_us 0: no wait. */
void hp3v_move_bounds(uint64_t drain_us, uint64_t hold_us, uint64_t place_us);
#define HP3V_PLACE_NS UINT64_C(10000000) /* upper limit of place_us, in ns */
uint64_t hp3v_move_place_ns(void); /* wait for hp3d's PLACE before RTS */
uint64_t hp3v_move_longest_ns(void); /* longest move, without RETURNING */

/* Handles a new `want`. */
void hp3v_move_command(struct hp3v_qp *q, uint64_t want, uint64_t now);
/* In RTS, before the first post: sets the port of PLACE. */
void hp3v_move_ready(struct hp3v_qp *q);
/* Continues a move. */
void hp3v_move_tick(struct hp3v_qp *q, uint64_t now);
/*
 * hp3d has ended: a move in progress ends on the old port. Of unread commands, the library carries
 * out only MOVE_NOW: the next hp3d may start late, and needs time to detect that the path is dead.
 * The library ignores all other commands; the next hp3d gives them again if needed.
 */
void hp3v_move_forsaken(struct hp3v_qp *q, uint64_t want, uint64_t now);
/*
 * _stop: call it before the application takes the queue pair out of RTS. It cancels the move; held
 * requests stay held. _stopped: call it afterwards. It posts held requests, which a queue pair in
 * error flushes; after a reset, it drops them.
 */
void hp3v_move_stop(struct hp3v_qp *q);
void hp3v_move_stopped(struct hp3v_qp *q);

static inline bool hp3v_is_moving(const struct hp3v_qp *q)
{
	return __atomic_load_n(&q->step, __ATOMIC_RELAXED) != HP3V_IDLE;
}

/*
 * methods.c: the verbs calls of a move, one function per step, for a caller that holds the queue
 * pair's lock. The functions of steps return 0 or an errno.
 */
uint16_t hp3v_home_of(const struct hp3v_qp *q); /* port without hp3d; 0: not known */

/*
 * Sets state SQD. EOPNOTSUPP: the RNIC has no such state (mlx5); EIO: the queue pair is in error.
 */
int hp3v_sqd_begin(struct hp3v_qp *q);
/*
 * Is the send queue drained? 0: yes; EAGAIN: not yet; EIO: the queue pair is in error, or in an
 * unexpected state.
 */
int hp3v_sqd_drained(struct hp3v_qp *q);
/* Sets the port in state SQD. `now`: before the send queue has drained. */
int hp3v_sqd_turn(struct hp3v_qp *q, uint16_t port, bool now);
/*
 * Sets state RTS. Then rings the doorbell without a work request, because otherwise Soft-RoCE's
 * requester does not restart (rule 21). The function calls the kernel for this, because the
 * provider's post_send needs a work request.
 */
int hp3v_sqd_end(struct hp3v_qp *q);
