/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_METHODS_H
#define HP3_VERBS_METHODS_H

#include "app/verbs/shim.h"

/*
 * The verbs of a move, each one step; under the queue pair's lock. They return 0 or an errno. Their
 * use and order: move.h.
 */
uint16_t hp3v_port_of(uint32_t flow_label);
uint16_t hp3v_home_of(const struct hp3v_qp *q); /* without hp3d; 0: not known */
uint32_t hp3v_label_of(uint16_t port); /* never 0, which would leave the port to the RNIC */

/* EOPNOTSUPP: this RNIC has no such state, as mlx5; EIO: the queue pair is in error. */
int hp3v_sqd_begin(struct hp3v_qp *q);
/* 0; EAGAIN: not yet; EIO: the queue pair is in error, or in an unexpected state. */
int hp3v_sqd_drained(struct hp3v_qp *q);
/* While it drains. */
int hp3v_sqd_turn_now(struct hp3v_qp *q, uint16_t port);
int hp3v_sqd_turn(struct hp3v_qp *q, uint16_t port);
/*
 * Back to RTS, and restarts the requester, because Soft-RoCE's does not restart by itself: a
 * doorbell without a work request (rule 21). It is the kernel's call, because the library's needs a
 * work request.
 */
int hp3v_sqd_end(struct hp3v_qp *q);

int hp3v_sport_turn(struct hp3v_qp *q, uint16_t port);

#endif
