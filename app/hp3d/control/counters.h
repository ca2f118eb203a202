/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_COUNTERS_H
#define HP3D_COUNTERS_H
/*
 * All counters of engines and pipes (one rail on one worker) as one list, from the static tables
 * that define them. A read sums over the chosen rails and workers; any thread may read.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3D_ALL UINT32_MAX /* every rail, every worker */

struct hp3d_counter {
	const char *name, *help;
	bool drop; /* counts packets that were not forwarded */
};

unsigned hp3d_counter_count(void);
struct hp3d_counter hp3d_counter(unsigned i);
uint64_t hp3d_counter_sum(unsigned i, unsigned rails, unsigned rail, unsigned worker);

#endif
