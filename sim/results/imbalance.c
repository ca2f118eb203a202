/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/fabric/port.h"
#include "sim/results/uplinks.h"

#define WINDOW           (100 * SIM_US)
#define MIN_WINDOW_BYTES 1000u

struct sim_imbalance {
	struct sim_event event;
	uint64_t *before; /* by port */
	double sum;
	uint64_t windows;
};

static void sample_switch(struct sim *s, struct sim_imbalance *m, uint32_t node)
{
	uint64_t most = 0, least = UINT64_MAX, sum = 0, n = 0;

	for (uint32_t p = s->topo.first_port[node]; p < s->topo.first_port[node + 1]; p++) {
		uint64_t bytes = s->port[p].sent_bytes - m->before[p];

		if (!sim_is_uplink(s, p))
			continue;
		m->before[p] = s->port[p].sent_bytes;
		most = hp3_max_u64(most, bytes);
		least = hp3_min_u64(least, bytes);
		sum += bytes;
		n++;
	}
	if (n < 2 || sum < n * MIN_WINDOW_BYTES)
		return;
	m->sum += (double)(most - least) * (double)n / (double)sum;
	m->windows++;
}

static void end_window(struct sim *s, struct sim_event *event)
{
	struct sim_imbalance *m = (struct sim_imbalance *)event;

	for (uint32_t n = s->topo.hosts; n < s->topo.nodes; n++)
		sample_switch(s, m, n);
	if (s->next_known < s->n_known || s->open_work > 0)
		sim_at(s, event, s->now + WINDOW);
}

struct sim_imbalance *sim_imbalance_start(struct sim *s)
{
	struct sim_imbalance *m = sim_alloc(1, sizeof(*m));

	m->before = sim_alloc(s->topo.n_ports, sizeof(*m->before));
	m->event.fire = end_window;
	sim_at(s, &m->event, WINDOW);
	return m;
}

double sim_imbalance_mean(const struct sim_imbalance *m)
{
	return m->windows > 0 ? m->sum / (double)m->windows : 0;
}

void sim_imbalance_free(struct sim_imbalance *m)
{
	free(m->before);
	free(m);
}
