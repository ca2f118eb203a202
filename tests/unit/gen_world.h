/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two of roce-gen's endpoints and a link between them, in simulated time. The link has a fixed
 * delay and optionally a fixed rate. It loses, reorders and marks (CE) random packets; a seed
 * decides which. Workloads run to their end.
 */
#include "endpoint.h"
#include "workload.h"

struct world_frame;

struct world {
	struct gen_endpoint end[2];
	struct gen_workload load[2];
	uint64_t now, seed;
	uint64_t delay_ns;
	/* of 1000 frames */
	uint32_t lost, overtaken, marked;
	uint64_t frames, drops;
	uint32_t failed; /* queue pairs */
	struct world_frame *air; /* by time of arrival */
	uint64_t (*tap)(struct world *w, int from, const uint8_t *frame, uint32_t len);
};

/* Parameters that most tests want; MTU 1024, window 128, timeout 16.8 ms. */
struct gen_endpoint_params world_params(void);
/* Sets up `qps` queue pairs. Those of end 0 carry load; if `both`, also those of end 1. */
void world_open(struct world *w, const struct gen_endpoint_params *p, uint32_t qps, bool both,
	uint64_t seed);
void world_close(struct world *w);
/* Starts the load at both ends. Runs until the load is done and no frame is in flight, or until
 * `until`. */
void world_run(struct world *w, const struct gen_workload_params *load, uint64_t until);
/* Continues the run, without starting a load. */
void world_go_on(struct world *w, uint64_t until);
/* A frame from neither endpoint arrives at `to`. */
void world_inject(struct world *w, int to, const void *frame, uint32_t len);
uint64_t world_random(struct world *w, uint64_t n);
