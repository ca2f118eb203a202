/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_POST_H
#define HP3_VERBS_POST_H
/* Functions that replace the provider's in a context's ops. */
#include "app/verbs/shim.h"

int hp3v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int hp3v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
/* Call it once per context, under hp3v_lock(), before its poll_cq becomes hp3v_poll_cq(). */
void hp3v_poll_by(int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc));

#endif
