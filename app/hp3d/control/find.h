/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the flow that a request names, by the flow's id or by a part of the id that only one flow
 * has. The part is the beginning, all that follows a '/', or the QPN, such as 0x1c. If several
 * flows match, the error answer has some of these flows ("candidates") and their number ("found").
 */
#include <jansson.h>
#include "app/flowid.h"
#include "config/config.h"
#include "engine/engine.h"

struct hp3d_pipe;

struct hp3d_found {
	unsigned rail, worker;
	char id[HP3_FLOWID_MAX];
	struct hp3_flow_info info; /* read before the call of `fn` */
};

/* Runs on the flow's lcore. */
typedef void hp3d_flow_fn(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg);

/* Finds the flow that `text` names, on any rail, and calls fn (may be NULL). NULL: found; otherwise
 * an error answer. */
json_t *hp3d_find(const struct hp3_config *cfg, const char *text, hp3d_flow_fn *fn, void *arg,
	struct hp3d_found *found);

/* Finds the id that `text` names in full or in part. If `text` is a full id, the function does not
 * check whether the flow exists. NULL: *id is set; otherwise an error answer. */
json_t *hp3d_find_id(const struct hp3_config *cfg, const char *text, struct hp3_flowid *id);
