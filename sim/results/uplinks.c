/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/fabric/port.h"
#include "sim/results/uplinks.h"

#define UPLINKS_EVERY    (2 * SIM_US)
#define MIN_UPLINK_BYTES 1000u

struct sim_uplinks {
	struct sim_event event;
	uint32_t *port, n;
	uint64_t looks, bytes; /* bytes: of all looks and uplinks */
	uint32_t longest;
};

struct spread {
	double of_mean, percent;
	uint32_t leaves;
};

bool sim_is_uplink(const struct sim *s, uint32_t port)
{
	const struct sim_topo *t = &s->topo;

	return t->owner[t->peer_port[port]] >= t->hosts && sim_topo_is_leaf(t, t->owner[port]);
}

static void sample_uplinks(struct sim *s, struct sim_event *event)
{
	struct sim_uplinks *u = (struct sim_uplinks *)event;

	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t bytes = s->port[u->port[i]].data_bytes;

		u->bytes += bytes;
		u->longest = hp3_max_u32(u->longest, bytes);
	}
	u->looks++;
	/* Nothing to come but the series' next look: the run is stuck, and must say so. */
	if ((s->known_done < s->n_known || s->open_work > 0) && s->queue.pending > 1)
		sim_at(s, event, s->now + UPLINKS_EVERY);
}

struct sim_uplinks *sim_uplinks_start(struct sim *s)
{
	struct sim_uplinks *u = sim_alloc(1, sizeof(*u));

	u->port = sim_alloc(s->topo.n_ports, sizeof(*u->port));
	for (uint32_t p = 0; p < s->topo.n_ports; p++)
		if (sim_is_uplink(s, p))
			u->port[u->n++] = p;
	u->event.fire = sample_uplinks;
	if (u->n > 0)
		sim_at(s, &u->event, UPLINKS_EVERY);
	return u;
}

/* Of the uplinks of one leaf: port[0 .. n - 1]. */
static void add_leaf_spread(
	const struct sim *s, const uint32_t *port, uint32_t n, struct spread *sum)
{
	uint64_t most = 0, least = UINT64_MAX, all = 0, bps = UINT64_MAX;
	double seconds = (double)(s->last_end - s->first_start) / SIM_SEC;

	for (uint32_t i = 0; i < n; i++) {
		const struct sim_port *p = &s->port[port[i]];

		most = hp3_max_u64(most, p->sent_bytes);
		least = hp3_min_u64(least, p->sent_bytes);
		bps = hp3_min_u64(bps, p->bps);
		all += p->sent_bytes;
	}
	if (n < 2 || all < (uint64_t)n * MIN_UPLINK_BYTES || s->last_end <= s->first_start)
		return;
	sum->of_mean += (double)(most - least) * n / (double)all;
	sum->percent += 800 * (double)(most - least) / ((double)bps * seconds);
	sum->leaves++;
}

json_t *sim_uplinks_json(const struct sim *s, const struct sim_uplinks *u)
{
	struct spread sum = {0};
	double leaves, looks = (double)u->looks * u->n;

	for (uint32_t i = 0, end; i < u->n; i = end) {
		for (end = i; end < u->n; end++)
			if (s->topo.owner[u->port[end]] != s->topo.owner[u->port[i]])
				break;
		add_leaf_spread(s, &u->port[i], end - i, &sum);
	}
	leaves = sum.leaves > 0 ? sum.leaves : 1;
	return json_pack("{s:f, s:f, s:f, s:I}", "spread", sum.of_mean / leaves, "spread_percent",
		sum.percent / leaves, "queue_mean_bytes", looks > 0 ? (double)u->bytes / looks : 0,
		"queue_max_bytes", (json_int_t)u->longest);
}

void sim_uplinks_free(struct sim_uplinks *u)
{
	free(u->port);
	free(u);
}
