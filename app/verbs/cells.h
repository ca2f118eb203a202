/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CELLS_H
#define HP3_VERBS_CELLS_H

#include "app/verbs/shim.h"

/* The memory that is shared with hp3d, and hp3d's bell (share.h). */
struct hp3v_shared {
	int memory, hp3d_bell; /* descriptors; -1: none */
};

/* Takes a cell for the queue pair, if one is free; else it keeps `own`. Under its lock. */
void hp3v_cell_take(struct hp3v_qp *q);
void hp3v_cell_give_back(struct hp3v_qp *q);

/* The queue pair of a cell, NULL: none. It may leave the cell at any time: check again under its
 * lock. */
struct hp3v_qp *hp3v_cell_owner(uint32_t index);
uint32_t hp3v_cells_used(void); /* cells from that index on were never taken */

/* Answers the newest command; under the queue pair's lock. */
void hp3v_cell_answer(struct hp3v_qp *q, enum hp3_verbs_did did, int detail);
void hp3v_cells_ring(void); /* rings hp3d's bell */

/* Creates memory and bell, once. False: failed. */
bool hp3v_cells_open(struct hp3v_shared *shared);
/* In a forked child: releases them. */
void hp3v_cells_abandon(void);

#endif
