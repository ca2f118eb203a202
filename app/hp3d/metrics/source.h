/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Readers of metrics. A reader adds the samples of a row of metrics.def to the page. It may read
 * single counters of workers and pipes, and call DPDK and the kernel, but must not wait.
 */
#include "app/hp3d/metrics/table.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/tally.h"
#include "config/config.h"

enum hp3d_pool_value { HP3D_POOL_SIZE, HP3D_POOL_FREE };
enum hp3d_table_value {
	HP3D_TABLE_FLOWS,
	HP3D_TABLE_FLOWS_MAX,
	HP3D_TABLE_MOVED,
	HP3D_TABLE_MOVING,
	HP3D_TABLE_PAIRS,
	HP3D_TABLE_PAIRS_MAX
};

struct hp3d_source {
	const struct hp3_config *cfg;
	double started; /* Unix time */
	uint64_t heartbeat; /* atomic; hp3d_now() in the control thread's latest iteration */
};

/* Writes all samples to `page`, which is initialised; false: no memory. */
bool hp3d_source_read(struct hp3d_page *page, const struct hp3d_source *from);

#define METRIC(type, name, labels, reader, which, help)                                            \
	void hp3d_read_##reader(struct hp3d_page *, const struct hp3d_source *, size_t);
#include "app/hp3d/metrics/metrics.def"
#undef METRIC
