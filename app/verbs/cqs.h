/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CQS_H
#define HP3_VERBS_CQS_H
/* Extended completion queues, polled by ibv_start_poll() and ibv_next_poll(). */
#include "app/verbs/shim.h"

void hp3v_cq_adopt(struct ibv_cq_ex *cq);
void hp3v_cq_forget(struct hp3v_cq *c);

#endif
