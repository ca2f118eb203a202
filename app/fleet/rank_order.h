/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The result of `hp3-fleet order`: hosts in the order of a ring, N ranks on each host. Prints the
 * result as text or JSON, or as a file for Open MPI, Slurm or torchrun. Rank i * N + k is local
 * rank k on the i-th host, in all formats.
 */
#include <stdint.h>
#include "app/fleet/commands.h"
#include "fleet/names.h"

struct fleet_listed_host {
	char host[HP3_FLEET_NAME];
	char leaf[HP3_FLEET_LEAF];
};

struct fleet_rank_order {
	struct fleet_listed_host *at;
	uint32_t *leaf, *order; /* leaf[i]: the first host below the leaf of host i */
	uint32_t n;
	struct fleet_spine_path
		*spine_path; /* of ring k from the i-th host in order: [i * ranks + k] */
	uint64_t steps, known; /* steps between leaves, in all rings; with a known port */
};

/* The number of this format, or -1. */
int fleet_order_format(const char *name);
void fleet_rank_order_print(const struct fleet_rank_order *l, const struct fleet_options *o);
