/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_REQUESTS_H
#define HP3D_REQUESTS_H
/*
 * From a request line to its answer:
 *     {"cmd":"flows","after":ID,"limit":100}
 *     {"v":1,"ok":true,"data":...,"next":...}   or {"v":1,"ok":false,"error":{"code","text","fix"}}
 *
 * Error codes: bad-request, unknown-command, not-found, refused (a move; `code` is then the
 * reason's own name, see flows.c), timeout (a data lcore did not answer), no-memory.
 */
#include "app/control/reply.h"
#include "config/config.h"

#define HP3D_PAGE_DEFAULT 100
#define HP3D_PAGE_MAX     1000

/* arg: the const struct hp3_config in effect. An hp3d_answer_fn. */
json_t *hp3d_json_answer(void *arg, const char *line, size_t len);

#endif
