/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_QPS_H
#define HP3_VERBS_QPS_H

#include "app/verbs/shim.h"

/* Queue pairs of reliable connections: from their making to their end. */
struct hp3v_qp *hp3v_qp_adopt(struct hp3v_ctx *ctx, struct ibv_qp *qp, const struct ibv_qp_cap *cap,
	bool sig_all, uint64_t send_ops);
/* The queue pair is gone; the record is found no more, and used again. */
void hp3v_qp_forget(struct hp3v_qp *q);

/* The application has changed it; under its lock. */
void hp3v_qp_changed(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask);

/* READs and ATOMICs of the peer are let in, as it was told. */
bool hp3v_responds(const struct hp3v_qp *q);

/* The cell says what is known now; under the queue pair's lock. */
void hp3v_qp_show(struct hp3v_qp *q);

/* In a child that was forked: what the parent had is its own, queue pairs here are never moved. */
void hp3v_qps_orphan(void);

#endif
