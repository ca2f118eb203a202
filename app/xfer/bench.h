/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3x-bench: measures writes, reads and the transfer of a KV cache to a host that runs
 * hp3x-bench --serve. The server sends the descriptor of its region as its first message.
 */
#include <stdbool.h>
#include <stdint.h>
#include "xfer/hp3x.h"

#define BENCH_REGION (256u << 20) /* bytes of the server's region, and of the client's */
#define BENCH_PORT   18516

struct bench_options {
	const char *pattern, *rails[HP3X_RAILS];
	uint32_t n_rails, port, peer_timeout_ms;
	uint64_t size, ops, depth; /* of an op; in all; under way */
	bool json;
};

struct bench_client {
	struct hp3x_domain *domain;
	struct hp3x_region *region;
	struct hp3x_peer *peer;
	struct hp3x_remote remote;
};

struct bench_result {
	uint64_t ops, failed, bytes, ns, again;
	uint64_t took[3]; /* ns of an op: median, p99, most */
};

/* --- bench_serve.c --- */

int bench_serve(const struct bench_options *options);
struct hp3x_domain *bench_domain_open(const struct bench_options *options, const char *listen);

/* --- bench_run.c --- */

/* False: no such pattern. */
bool bench_pattern_known(const char *pattern);
/* Returns 0, or -1: no memory. */
int bench_run(const struct bench_client *client, const struct bench_options *options,
	struct bench_result *result);
