/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Moves a queue pair, in the steps IDLE, DRAINING, SUSPENDED, IDLE.
 *
 * Method SQD: the RNIC drains the send queue, and keeps work requests that are posted meanwhile.
 * This library holds no work requests. Method SPORT: this library holds work requests (hold.h)
 * until all earlier work requests have completed. The command PLACE in state RTR needs no drain:
 * the port takes effect with RTS, before the first data. If hp3d is connected, the change to RTS
 * waits for PLACE for a short time. The command MOVE_NOW leaves a dead path without a drain: in
 * state SQD, the RNIC retransmits the lost packets on the new path. A move that fails, times out or
 * is cancelled ends on the old port. In state SQD, an RNIC may refuse RTS while it drains. Then the
 * step is RETURNING, and the library retries until the RNIC is in RTS, or the queue pair is in
 * error.
 *
 * A move also changes the path of the responses to the peer's READs and ATOMICs (rule 20). So the
 * library moves a queue pair that accepts these only with SUSPEND_HELD, while the peer's library
 * holds the peer's queue pair (HOLD). With SPORT, the library does not move two more kinds of
 * queue pairs. The first kind has no posts and polls through this library: the library cannot hold
 * work requests that bypass it. The second kind belongs to contexts whose provider omits locks.
 *
 * The caller holds the queue pair's lock.
 */
#include "app/verbs/shim.h"

/* Sets the bounds that hp3d sent. If drain_us or hold_us is 0 or above a second, the library uses
 * its own default. place_us 0: no wait. */
void hp3v_move_bounds(uint64_t drain_us, uint64_t hold_us, uint64_t place_us);
#define HP3V_PLACE_NS UINT64_C(10000000) /* upper limit of place_us, in ns */
uint64_t hp3v_move_place_ns(void); /* wait for hp3d's PLACE before RTS */
uint64_t hp3v_move_longest_ns(void); /* longest move, without RETURNING and HOLD */

/* Handles a new `want`. */
void hp3v_move_command(struct hp3v_qp *q, uint64_t want, uint64_t now);
/* Sets the port of PLACE. Call it in RTS, before the first post. */
void hp3v_move_ready(struct hp3v_qp *q);
/*
 * A queue pair that accepts READs gets its port with RTR. _label: true if hp3d has chosen a port;
 * *label is then the flow label for RTR. _done: the queue pair is in RTR with this flow label, or
 * (error) without it. It sends the answer to hp3d.
 */
bool hp3v_move_place_label(struct hp3v_qp *q, uint32_t *label);
void hp3v_move_place_done(struct hp3v_qp *q, int error);
/* Continues a move. */
void hp3v_move_tick(struct hp3v_qp *q, uint64_t now);
/*
 * Call it when hp3d has ended. A move in progress ends on the old port. The library carries out an
 * unread MOVE_NOW, because the next hp3d may start late, and needs time to detect that the path is
 * dead. The library ignores all other unread commands. The next hp3d gives these commands again if
 * needed.
 */
void hp3v_move_forsaken(struct hp3v_qp *q, uint64_t want, uint64_t now);
/*
 * Call hp3v_move_stop() before the application takes the queue pair out of RTS. It cancels the
 * move; held requests stay held. Call hp3v_move_stopped() afterwards. It posts the held requests,
 * which a queue pair in error flushes. After a reset, it drops the held requests.
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
/* The flow label from which mlx5 and Soft-RoCE derive this port. Never 0: they would choose. */
uint32_t hp3v_label_of(uint16_t port);

/*
 * Sets state SQD. EOPNOTSUPP: the RNIC has no such state (mlx5); EIO: the queue pair is in error.
 */
int hp3v_sqd_begin(struct hp3v_qp *q);
/*
 * Is the send queue drained? 0: yes; EAGAIN: not yet; EIO: the queue pair is in error, or in an
 * unexpected state.
 */
int hp3v_sqd_drained(struct hp3v_qp *q);
/* Sets the port in state SQD. `now`: even before the send queue has drained. */
int hp3v_sqd_turn(struct hp3v_qp *q, uint16_t port, bool now);
/*
 * Sets state RTS. Then rings the doorbell without a work request, because otherwise Soft-RoCE's
 * requester does not restart (rule 21). The function calls the kernel for this, because the
 * provider's post_send needs a work request.
 */
int hp3v_sqd_end(struct hp3v_qp *q);
