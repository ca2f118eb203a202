/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads the tables of the engines in steps: by rail, then worker, then index. The answer to a
 * request for a list (of flows, of address pairs) is a page of the list. A search for a flow by a
 * part of its id (find.h) also reads in steps.
 *
 * A step is one call that a worker executes. So that packets do not wait long, a step takes at most
 * `room` records. It reads at most HP3D_STRETCH records, most of which may be unused. So that a
 * page does not delay other clients, it makes no step after HP3D_LOOKED records. (Its last step may
 * go beyond this number.)
 */
#include <jansson.h>
#include "app/hp3d/lcores/worker.h"
#include "config/config.h"
#include "engine/engine.h"

#define HP3D_STRETCH 2048u
#define HP3D_LOOKED  262144u

struct hp3d_place {
	unsigned rail, worker;
	uint32_t index; /* index of the next record */
};

struct hp3d_list {
	uint32_t records; /* table size per rail and worker, unused records included */
	void *items; /* memory for `room` items, which one step fills */
	size_t size; /* size of an item */
	unsigned room;
	/* On the worker: copies record `index` to *item. False: the record is not in the list. */
	bool (*take)(const struct hp3_engine *e, uint32_t index, uint64_t now, void *item,
		const void *arg);
	/* In the control thread: the item as JSON; NULL: the item is not in the list. */
	json_t *(*json)(const struct hp3_config *cfg, const struct hp3d_place *at, const void *item,
		const void *arg);
	const void *arg;
	/* Instead of `take`, for a table that is read by a cursor. On the worker: copies at most
	 * `want` records from *index on. Sets *index for the next call; `records`: there are no
	 * more records. Returns the number of records copied. Counts as HP3D_STRETCH records. */
	uint32_t (*step)(
		struct hp3d_worker *w, unsigned rail, uint32_t *index, void *items, uint32_t want);
	/* If a list consists of several parts, one per table: name of this part. Each "next" begins
	 * with this name. NULL: the first or only part. */
	const char *part;
};

/*
 * Makes one step from *at, taking at most `want` records, and advances *at. The *n items taken are
 * at the beginning of `items`; all are from one rail and worker, given in *from. Returns the number
 * of records read; 0: there are no more records; -ETIMEDOUT: the worker did not answer.
 */
int hp3d_list_step(const struct hp3_config *cfg, const struct hp3d_list *l, struct hp3d_place *at,
	unsigned want, struct hp3d_place *from, unsigned *n);

/* Answers a request for a page. The request's "after" is the "next" of the previous page; it is
 * absent for the first page. */
json_t *hp3d_list_page(const struct hp3_config *cfg, json_t *req, const struct hp3d_list *l);
