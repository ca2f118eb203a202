/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/dpdk/failure.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

static char text[512];

static const char *fix_of_error(int err, const char *memory, const char *other)
{
	switch (err) {
	case ENOMEM:
		return memory;
	case EMFILE:
	case ENFILE:
		return "raise the limit of open files (LimitNOFILE= of the service, ulimit -n)";
	case ENOSPC:
		return "DPDK keeps no more memory zones than that: use fewer lcores or rails";
	default:
		return other;
	}
}

const char *hp3_dpdk_failure(int err, const char *memory, const char *other)
{
	snprintf(text, sizeof(text), "%s; %s", rte_strerror(err), fix_of_error(err, memory, other));
	return text;
}

static bool has_driver(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return true;
	}
	return false;
}

const char *hp3_pool_failure(int err, const char *memory)
{
	const char *driver = rte_mbuf_best_mempool_ops();

	if (has_driver(driver))
		return hp3_dpdk_failure(err, memory, "see DPDK's messages above");
	snprintf(text, sizeof(text),
		"%s; DPDK has no mempool driver \"%s\": install librte_mempool_ring (Debian: "
		"librte-mempool-ring23) into its driver folder",
		rte_strerror(err), driver);
	return text;
}
