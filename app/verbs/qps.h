/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The library's records of queue pairs (reliable connections only). */
#include "app/verbs/shim.h"

/*
 * Makes the record of a new queue pair. `send_ops`: its extended calls (IBV_QP_EX_WITH_*); 0: none.
 * NULL: no memory, or the table is full.
 */
struct hp3v_qp *hp3v_qp_adopt(struct hp3v_ctx *ctx, struct ibv_qp *qp, const struct ibv_qp_cap *cap,
	bool sig_all, uint64_t send_ops);
/* Removes the record of a destroyed queue pair; the record may be reused. */
void hp3v_qp_forget(struct hp3v_qp *q);

/* Takes over attributes that the application has modified. The caller holds q->lock. */
void hp3v_qp_changed(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask);

/* True: the queue pair's attributes allow READs or ATOMICs from the peer. */
bool hp3v_responds(const struct hp3v_qp *q);
/*
 * Call it before the application's change of the queue pair to RTR. True: the queue pair will
 * accept READs, and hp3d can choose its port by the flow label. This function has then shown it to
 * hp3d (HP3_VERBS_WAITS). If the change to RTR fails, call _withdraw.
 */
bool hp3v_qp_announce(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask);
void hp3v_qp_withdraw(struct hp3v_qp *q);

/* Writes the queue pair's state to its entry (cell, cells.h) in the memory shared with hp3d. The
 * caller holds q->lock. */
void hp3v_qp_show(struct hp3v_qp *q);

/* Call it in a forked child. The library forgets the parent's queue pairs, and never moves them in
 * the child. */
void hp3v_qps_orphan(void);
