/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_QUEUE_H
#define HP3D_UD_QUEUE_H
/*
 * A completion queue, with stamps of the RNIC where it gives them (an extended one), and without
 * (a plain one), which Soft-RoCE's is. One completion at a time: probes are few.
 */
#include <stdbool.h>
#include "app/hp3d/ud/ibverbs.h"

struct hp3d_ud_queue {
	struct ibv_cq *cq; /* NULL: none */
	struct ibv_cq_ex *ex; /* the same; NULL: without stamps */
};

struct hp3d_ud_done {
	uint64_t wr_id;
	uint64_t ticks; /* of the RNIC's counter; 0 without stamps */
	uint32_t bytes;
	unsigned int flags; /* enum ibv_wc_flags */
	bool good;
};

/* The counter that the device stamps with: its mask and frequency, or 0 and 0. */
void hp3d_ud_counter_of(struct ibv_context *context, uint64_t *mask, uint64_t *khz);

/* 0 or -1 and errno. `stamps`: with them, or not at all. */
int hp3d_ud_queue_make(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v,
	struct ibv_context *context, int entries, struct ibv_comp_channel *channel, bool stamps);
void hp3d_ud_queue_close(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v);
/* False: there is no more. */
bool hp3d_ud_queue_take(struct hp3d_ud_queue *q, struct hp3d_ud_done *done);

#endif
