/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LIST_H
#define HP3D_LIST_H
/*
 * Records of engines, one after the other: rail by rail, in each worker by worker, in each by
 * index. Lists of flows and of address pairs are pages of such a walk, and a flow that is named by
 * a part of its id is found by one.
 *
 * A step is one call of a worker: it takes at most `room` records and looks at HP3D_STRETCH of
 * them, so that neither a full nor an empty table keeps packets waiting. A page takes at most
 * HP3D_LOOKED records, so that it does not keep other clients waiting.
 */
#include <jansson.h>
#include "config/config.h"
#include "engine/engine.h"

#define HP3D_STRETCH 2048u
#define HP3D_LOOKED  262144u

struct hp3d_place {
	unsigned rail, worker;
	uint32_t index; /* where to go on */
};

struct hp3d_list {
	uint32_t records; /* of each pipe, used ones or not */
	void *items; /* room for what one step takes */
	size_t size; /* of an item */
	unsigned room;
	/* On the worker: record `index` to *item. False: it is left out. */
	bool (*take)(const struct hp3_engine *e, uint32_t index, uint64_t now, void *item,
		const void *arg);
	/* In the control thread: what is said of it; NULL: it is left out. */
	json_t *(*json)(const struct hp3_config *cfg, const struct hp3d_place *at, const void *item,
		const void *arg);
	const void *arg;
};

/*
 * One step from *at on, which moves on; the items taken lie at the beginning of `items` and are of
 * `from`'s rail and worker. Returns records looked at, 0: the walk is at its end, -ETIMEDOUT: the
 * worker did not answer.
 */
int hp3d_list_step(const struct hp3_config *cfg, const struct hp3d_list *l, struct hp3d_place *at,
	unsigned want, struct hp3d_place *from, unsigned *n);

/* The answer to a request for a page: its "after" is what "next" said, or absent. */
json_t *hp3d_list_page(const struct hp3_config *cfg, json_t *req, const struct hp3d_list *l);

#endif
