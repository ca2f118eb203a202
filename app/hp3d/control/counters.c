/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/counters.h"
#include <stddef.h>
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/pipe.h"

/* Where a counter lies: one of four structs, each with a list of its own. */
struct place {
	const char *name, *help;
	const void *base; /* of a pipe; NULL: that pipe has none */
	size_t offset;
	bool drop;
};

struct named {
	const char *name, *help;
	size_t offset;
};

static const struct named agent_counters[] = {
#define X(field, help) {#field, help, offsetof(struct hp3d_agent_counters, field)},
	HP3D_AGENT_COUNTERS(X)
#undef X
};

static struct place place(unsigned i, struct hp3d_pipe *p)
{
	struct hp3d_agent *a = p ? hp3d_pipe_agent(p) : NULL;

	if (i < hp3_stat_count)
		return (struct place){hp3_stat_info[i].name, hp3_stat_info[i].help,
			p ? hp3_engine_stats(hp3d_pipe_engine(p)) : NULL, hp3_stat_info[i].offset,
			false};
	i -= hp3_stat_count;
	if (i < hp3_probe_stat_count)
		return (struct place){hp3_probe_stat_info[i].name, hp3_probe_stat_info[i].help,
			a ? hp3d_agent_stats(a) : NULL, hp3_probe_stat_info[i].offset, false};
	i -= hp3_probe_stat_count;
	if (i < RTE_DIM(agent_counters))
		return (struct place){agent_counters[i].name, agent_counters[i].help,
			a ? hp3d_agent_counters(a) : NULL, agent_counters[i].offset, false};
	struct hp3d_pipe_counter_info c = hp3d_pipe_counter(i - RTE_DIM(agent_counters));
	return (struct place){c.name, c.help, p ? hp3d_pipe_counters(p) : NULL, c.offset, c.drop};
}

unsigned hp3d_counter_count(void)
{
	return hp3_stat_count + hp3_probe_stat_count + RTE_DIM(agent_counters) +
	       hp3d_pipe_counter_count();
}

struct hp3d_counter hp3d_counter(unsigned i)
{
	struct place x = place(i, NULL);

	return (struct hp3d_counter){x.name, x.help, x.drop};
}

static uint64_t value(unsigned i, struct hp3d_pipe *p)
{
	struct place x = place(i, p);

	if (x.base == NULL)
		return 0;
	return __atomic_load_n(
		(const uint64_t *)((const char *)x.base + x.offset), __ATOMIC_RELAXED);
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
