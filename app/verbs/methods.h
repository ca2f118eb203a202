/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The verbs calls of a move, one function per step. The caller holds the queue pair's lock. The
 * functions of steps return 0 or an errno. move.h describes their use and order.
 */
#include "app/verbs/shim.h"

uint16_t hp3v_home_of(const struct hp3v_qp *q); /* port without hp3d; 0: not known */
uint32_t hp3v_label_of(uint16_t port); /* gives this port; never 0: the RNIC would choose */

/*
 * Sets state SQD. EOPNOTSUPP: the RNIC has no such state (mlx5); EIO: the queue pair is in error.
 */
int hp3v_sqd_begin(struct hp3v_qp *q);
/*
 * Is the send queue drained? 0: yes; EAGAIN: not yet; EIO: the queue pair is in error, or in an
 * unexpected state.
 */
int hp3v_sqd_drained(struct hp3v_qp *q);
/* Set the port in state SQD. _now: before the send queue has drained. */
int hp3v_sqd_turn_now(struct hp3v_qp *q, uint16_t port);
int hp3v_sqd_turn(struct hp3v_qp *q, uint16_t port);
/*
 * Sets state RTS. Then rings the doorbell without a work request, because Soft-RoCE's requester
 * does not restart by itself (rule 21). The function calls the kernel for this, because the
 * provider's post_send needs a work request.
 */
int hp3v_sqd_end(struct hp3v_qp *q);

/* Sets the port by the RNIC's udp_sport call, which takes effect at once. */
int hp3v_sport_turn(struct hp3v_qp *q, uint16_t port);
