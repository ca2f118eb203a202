/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A completion queue: an extended queue with the RNIC's timestamps, or a plain queue if the RNIC
 * has no timestamps, such as Soft-RoCE. The caller takes one completion at a time, because probes
 * are few.
 */
#include <stdbool.h>
#include "app/hp3d/ud/ibverbs.h"

struct hp3d_ud_queue {
	struct ibv_cq *cq; /* NULL: none */
	struct ibv_cq_ex *ex; /* the same queue; NULL: without timestamps */
};

struct hp3d_ud_done {
	uint64_t wr_id;
	uint64_t ticks; /* timestamp in ticks of the RNIC's counter; 0: no timestamp */
	uint32_t bytes;
	unsigned int flags; /* enum ibv_wc_flags */
	bool good;
};

/* The device's timestamp counter: its mask and frequency, or 0 and 0. */
void hp3d_ud_counter_of(struct ibv_context *context, uint64_t *mask, uint64_t *khz);

/* Returns 0, or -1 and errno. `stamps`: fail if there can be no timestamps. */
int hp3d_ud_queue_make(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v,
	struct ibv_context *context, int entries, struct ibv_comp_channel *channel, bool stamps);
void hp3d_ud_queue_close(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v);
/* False: the queue is empty. */
bool hp3d_ud_queue_take(struct hp3d_ud_queue *q, struct hp3d_ud_done *done);
