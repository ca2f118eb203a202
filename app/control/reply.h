/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Makes answers, and reads numbers of requests. An answer is:
 *     {"v":1,"ok":true,"data":...}   or   {"v":1,"ok":false,"error":{"code","text","fix"}}
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* An answer; takes the reference to `data`. NULL if data is NULL, or no memory. */
json_t *hp3d_json_ok(json_t *data);
json_t *hp3d_json_error(const char *code, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Reads a number of a request. If the key is absent, *value is unchanged. False: *error is the
 * answer to send.
 */
bool hp3d_json_number(
	json_t *req, const char *key, uint64_t min, uint64_t max, uint64_t *value, json_t **error);
