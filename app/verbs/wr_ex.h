/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_WR_EX_H
#define HP3_VERBS_WR_EX_H
/*
 * The extended calls to post: ibv_wr_start(), calls for each work request and its data, then
 * ibv_wr_complete(). The calls are pointers in the queue pair itself. The calls from ibv_wr_start()
 * to ibv_wr_complete() are a section. A section that begins while requests are held is recorded,
 * and its thread has the queue pair's lock until the section ends. If the section does not fit into
 * the pool, all held requests are posted, and the section continues with the provider. If requests
 * would exceed max_send_wr, the section ends with ENOMEM.
 */
#include "app/verbs/shim.h"

void hp3v_ex_attach(struct hp3v_qp *q, struct ibv_qp *qp, uint64_t send_ops);

#endif
