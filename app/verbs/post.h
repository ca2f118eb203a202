/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_POST_H
#define HP3_VERBS_POST_H

#include "app/verbs/shim.h"

/* What stands in a context's ops instead of the provider's. */
int hp3v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int hp3v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
/* Once for each context, before hp3v_poll_cq() stands in it, under hp3v_lock(). */
void hp3v_poll_by(int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc));

#endif
