/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/counters.h"
#include "app/hp3d/pipe.h"

unsigned hp3d_counter_count(void)
{
	return hp3_stat_count + hp3d_pipe_counter_count();
}

struct hp3d_counter hp3d_counter(unsigned i)
{
	if (i < hp3_stat_count)
		return (struct hp3d_counter){hp3_stat_info[i].name, hp3_stat_info[i].help, false};
	struct hp3d_pipe_counter_info c = hp3d_pipe_counter(i - hp3_stat_count);
	return (struct hp3d_counter){c.name, c.help, c.drop};
}

static uint64_t value(unsigned i, struct hp3d_pipe *p)
{
	const char *base;
	size_t offset;

	if (i < hp3_stat_count) {
		base = (const char *)hp3_engine_stats(hp3d_pipe_engine(p));
		offset = hp3_stat_info[i].offset;
	} else {
		base = (const char *)hp3d_pipe_counters(p);
		offset = hp3d_pipe_counter(i - hp3_stat_count).offset;
	}
	return __atomic_load_n((const uint64_t *)(base + offset), __ATOMIC_RELAXED);
}

uint64_t hp3d_counter_sum(unsigned i, unsigned rails, unsigned rail, unsigned worker)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < hp3d_worker_count(); w++)
		for (unsigned r = 0; r < rails; r++)
			if ((rail == HP3D_ALL || rail == r) && (worker == HP3D_ALL || worker == w))
				sum += value(i, hp3d_worker_pipe(hp3d_worker(w), r));
	return sum;
}
