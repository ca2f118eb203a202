/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The memory that this library and hp3d share, with a cell per queue pair, and hp3d's bell, an
 * eventfd (share.h).
 */
#include "app/verbs/shim.h"

struct hp3v_shared {
	int memory, hp3d_bell; /* descriptors; -1: none */
};

/*
 * Assigns a cell to the queue pair, if one is free; otherwise the queue pair uses its `own` cell.
 * The caller holds q->lock.
 */
void hp3v_cell_take(struct hp3v_qp *q);
void hp3v_cell_give_back(struct hp3v_qp *q);

/*
 * The queue pair of a cell; NULL: none. The queue pair may give the cell back at any time: check
 * again under q->lock.
 */
struct hp3v_qp *hp3v_cell_owner(uint32_t index);
uint32_t hp3v_cells_used(void); /* cells from this index on were never used */

/* Answers the newest command. The caller holds q->lock. */
void hp3v_cell_answer(struct hp3v_qp *q, enum hp3_verbs_did did, int detail);
void hp3v_cells_ring(void); /* rings hp3d's bell */

/* Creates memory and bell, once. False: failed. */
bool hp3v_cells_open(struct hp3v_shared *shared);
/* In a forked child: releases memory and bell. */
void hp3v_cells_abandon(void);
