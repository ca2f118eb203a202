/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_WR_REPLAY_H
#define HP3_VERBS_WR_REPLAY_H
/*
 * Posts work requests with the provider's extended calls, from begin to end of a section, and
 * counts them while they are built. Only one thread at a time builds requests: the thread has the
 * provider's lock from hp3v_ex_begin() on, or the queue pair's lock.
 */
#include "app/verbs/shim.h"

void hp3v_ex_begin(struct hp3v_qp *q);
/* A work request begins; hp3v_ex_bytes() adds its bytes. */
void hp3v_ex_op(struct hp3v_qp *q);
void hp3v_ex_bytes(struct hp3v_qp *q, uint64_t bytes);
/* Builds a held request: makes the call for it, and the call for its scatter list. */
void hp3v_ex_build(struct hp3v_qp *q, const struct ibv_send_wr *wr);
/* Returns the provider's result. If it is not 0, the provider took no request of the section. */
int hp3v_ex_end(struct hp3v_qp *q);
void hp3v_ex_abort(struct hp3v_qp *q);

#endif
