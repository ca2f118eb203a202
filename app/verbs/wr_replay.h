/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_WR_REPLAY_H
#define HP3_VERBS_WR_REPLAY_H

#include "app/verbs/shim.h"

/*
 * Posts work requests with the provider's extended calls, and counts them while they are built,
 * from begin to end of a section. Only one thread builds: by the provider's lock, from begin on, or
 * the queue pair's.
 */
void hp3v_ex_begin(struct hp3v_qp *q);
/* A work request begins; hp3v_ex_bytes() adds its bytes. */
void hp3v_ex_op(struct hp3v_qp *q);
void hp3v_ex_bytes(struct hp3v_qp *q, uint64_t bytes);
/* Builds a held request: the call itself, and its scatter list. */
void hp3v_ex_build(struct hp3v_qp *q, const struct ibv_send_wr *wr);
/* The provider's answer; anything but 0: nothing of the section was taken. */
int hp3v_ex_end(struct hp3v_qp *q);
void hp3v_ex_abort(struct hp3v_qp *q);

#endif
