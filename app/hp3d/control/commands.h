/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_COMMANDS_H
#define HP3D_COMMANDS_H
/*
 * The commands behind the requests. Each gets the whole request and returns the whole answer, or
 * NULL if memory is out. Those that read or change an engine do so through hp3d_worker_call(), at
 * most HP3D_FLOWS_PER_CALL records at a time: packets wait meanwhile.
 */
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/worker.h"

#define HP3D_FLOWS_PER_CALL 64u

json_t *hp3d_json_flows(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_flow(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_move(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_trace(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_paths(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_events(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_stats(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_config(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_health(const struct hp3_config *cfg, json_t *req);

/* Calls fn for the flow that `text` names, on its lcore. NULL: done; else why not, as an answer. */
struct hp3d_pipe;
typedef void hp3d_flow_fn(struct hp3d_pipe *p, uint32_t flow, uint64_t now, void *arg);
json_t *hp3d_json_at_flow(
	const struct hp3_config *cfg, const char *text, hp3d_flow_fn *fn, void *arg);

json_t *hp3d_json_hop(bool ipv6, const uint8_t addr[16]); /* an address as text */

/* A data lcore did not answer in time. */
json_t *hp3d_json_timed_out(void);

/* Part of the stats, pool.c: every packet buffer pool of the process, by name: size and free.
 */
json_t *hp3d_json_pools(void);

#endif
