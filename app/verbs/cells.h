/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CELLS_H
#define HP3_VERBS_CELLS_H

#include "app/verbs/shim.h"

/* The memory that hp3d sees, and its bell (share.h). */
struct hp3v_shared {
	int memory, hp3d_bell; /* descriptors; -1: none */
};

/* A cell for the queue pair, if there is one; else it keeps `own`. Under its lock. */
void hp3v_cell_take(struct hp3v_qp *q);
void hp3v_cell_give_back(struct hp3v_qp *q);

/* Who is at a cell, NULL: nobody. May be given back at any time: look again under its lock. */
struct hp3v_qp *hp3v_cell_owner(uint32_t index);
uint32_t hp3v_cells_used(void); /* no cell from there on was ever taken */

/* An answer to the newest command; under the queue pair's lock. */
void hp3v_cell_answer(struct hp3v_qp *q, enum hp3_verbs_did did, int detail);
void hp3v_cells_ring(void); /* hp3d should look */

/* Makes it all, once. False: not to be had. */
bool hp3v_cells_open(struct hp3v_shared *shared);
/* In a child that was forked: away with it. */
void hp3v_cells_abandon(void);

#endif
