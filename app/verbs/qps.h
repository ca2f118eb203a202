/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_QPS_H
#define HP3_VERBS_QPS_H

#include "app/verbs/shim.h"

/* Queue pairs of reliable connections: from creation to destruction. */
struct hp3v_qp *hp3v_qp_adopt(struct hp3v_ctx *ctx, struct ibv_qp *qp, const struct ibv_qp_cap *cap,
	bool sig_all, uint64_t send_ops);
/* The queue pair is destroyed; its record leaves the table, for reuse. */
void hp3v_qp_forget(struct hp3v_qp *q);

/* The application has modified it; under its lock. */
void hp3v_qp_changed(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask);

/* It accepts READs or ATOMICs of the peer, by its attributes. */
bool hp3v_responds(const struct hp3v_qp *q);

/* Writes its present state to its cell; under its lock. */
void hp3v_qp_show(struct hp3v_qp *q);

/* In a forked child: queue pairs of the parent are never moved here. */
void hp3v_qps_orphan(void);

#endif
