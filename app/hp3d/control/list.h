/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LIST_H
#define HP3D_LIST_H
/*
 * Walks through records of engines, by rail, then worker, then index. Lists of flows and of address
 * pairs are pages of a walk. A walk also finds a flow by a part of its id.
 *
 * A step is one call of a worker: it takes at most `room` records and reads at most HP3D_STRETCH,
 * so that neither a full nor an empty table delays packets. A page reads at most HP3D_LOOKED
 * records, so that it does not delay other clients.
 */
#include <jansson.h>
#include "config/config.h"
#include "engine/engine.h"

#define HP3D_STRETCH 2048u
#define HP3D_LOOKED  262144u

struct hp3d_place {
	unsigned rail, worker;
	uint32_t index; /* of the next record */
};

struct hp3d_list {
	uint32_t records; /* of each pipe, used or not */
	void *items; /* room for the items of one step */
	size_t size; /* of an item */
	unsigned room;
	/* On the worker: copies record `index` to *item. False: skip it. */
	bool (*take)(const struct hp3_engine *e, uint32_t index, uint64_t now, void *item,
		const void *arg);
	/* In the control thread: the item as JSON; NULL: skip it. */
	json_t *(*json)(const struct hp3_config *cfg, const struct hp3d_place *at, const void *item,
		const void *arg);
	const void *arg;
};

/*
 * Makes one step from *at, and advances *at. The *n items taken are at the beginning of `items`,
 * all of the rail and worker in *from. Returns the number of records read; 0: the walk is at its
 * end; -ETIMEDOUT: the worker did not answer.
 */
int hp3d_list_step(const struct hp3_config *cfg, const struct hp3d_list *l, struct hp3d_place *at,
	unsigned want, struct hp3d_place *from, unsigned *n);

/* Answers a request for a page: its "after" is the "next" of the page before, or absent. */
json_t *hp3d_list_page(const struct hp3_config *cfg, json_t *req, const struct hp3d_list *l);

#endif
