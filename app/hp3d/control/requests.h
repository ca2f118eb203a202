/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Answers request lines. A request, and the two forms of its answer:
 *     {"cmd":"flows","after":NEXT,"limit":100}
 *     {"v":1,"ok":true,"data":...,"next":NEXT}  or {"v":1,"ok":false,"error":{"code","text","fix"}}
 *
 * Error codes: bad-request, unknown-command, not-found, ambiguous (find.h), not-allowed (for a
 * member of [control] group), timeout (a data lcore did not answer). Some commands have more codes,
 * such as the reason of a refused move (moves.c). Without memory, the connection ends.
 */
#include "app/control/reply.h"
#include "app/hp3d/lcores/worker.h"
#include "app/flowid.h"
#include "config/config.h"
#include "engine/info.h"

#define HP3D_PAGE_DEFAULT 100
#define HP3D_PAGE_MAX     1000

/* Answers a line. An hp3d_answer_fn; arg: the const struct hp3_config in effect. */
json_t *hp3d_json_answer(void *arg, const char *line, size_t len);
/* As hp3d_json_answer(), for a member of [control] group, who may send only the requests of
 * hp3-fleet agent. */
json_t *hp3d_json_answer_group(void *arg, const char *line, size_t len);

/*
 * The commands. Each gets the whole request and returns the whole answer, or NULL if there is no
 * memory. The commands access engines through hp3d_worker_call(), a few records at a time, because
 * packets wait meanwhile.
 */
json_t *hp3d_json_flows(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_flow(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_move(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_trace(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_peers(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_paths(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_ports(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_qps(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_bypass(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_stats(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_config(const struct hp3_config *cfg, json_t *req);
json_t *hp3d_json_health(const struct hp3_config *cfg, json_t *req);

/* "rail0/10.9.0.1-10.9.0.2": a flow id without its QPN. */
void hp3d_pair_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_pair_info *p,
	char buf[HP3_FLOWID_MAX]);

json_t *hp3d_pools_json(void); /* packet buffer pools of the process, by name: size and free */

json_t *hp3d_json_hop(bool ipv6, const uint8_t addr[16]); /* an address as text */

/* The error answer `timeout`: a data lcore did not answer in time. */
json_t *hp3d_json_timed_out(void);
