/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/minmax.h"
#include "sim/fabric/port.h"
#include "sim/results/series.h"

#define SERIES_EVERY (10 * SIM_US)

struct point {
	double core_sum; /* of the means of its samples */
	uint32_t core_max, host_max;
	uint64_t moves, marked, data_bytes;
};

struct sim_series {
	struct sim_event event;
	struct point point[SIM_POINTS]; /* the last one is being filled */
	uint32_t n, samples, per_point;
	uint64_t moves, marked, data_bytes; /* so far */
};

static void sample_queues(const struct sim *s, struct point *p)
{
	const struct sim_topo *t = &s->topo;
	uint64_t sum = 0, n = 0;

	for (uint32_t i = t->first_port[t->hosts]; i < t->n_ports; i++) {
		uint32_t bytes = s->port[i].data_bytes;

		if (t->owner[t->peer_port[i]] < t->hosts) {
			p->host_max = hp3_max_u32(p->host_max, bytes);
			continue;
		}
		p->core_max = hp3_max_u32(p->core_max, bytes);
		sum += bytes;
		n++;
	}
	if (n > 0)
		p->core_sum += (double)sum / (double)n;
}

static void halve_points(struct sim_series *r)
{
	for (uint32_t i = 0; i < SIM_POINTS / 2; i++) {
		const struct point *a = &r->point[2 * i], *b = a + 1;

		r->point[i] = (struct point){.core_sum = a->core_sum + b->core_sum,
			.core_max = hp3_max_u32(a->core_max, b->core_max),
			.host_max = hp3_max_u32(a->host_max, b->host_max),
			.moves = a->moves + b->moves,
			.marked = a->marked + b->marked,
			.data_bytes = a->data_bytes + b->data_bytes};
	}
	r->n = SIM_POINTS / 2;
	r->per_point *= 2;
}

static void sample_run(struct sim *s, struct sim_event *event)
{
	struct sim_series *r = (struct sim_series *)event;
	struct point *p;

	if (r->samples == r->per_point) {
		r->samples = 0;
		if (++r->n == SIM_POINTS)
			halve_points(r);
		r->point[r->n] = (struct point){0};
	}
	p = &r->point[r->n];
	r->samples++;
	sample_queues(s, p);
	p->moves += s->n.moves - r->moves;
	p->marked += s->n.marked - r->marked;
	p->data_bytes += s->n.data_bytes - r->data_bytes;
	r->moves = s->n.moves;
	r->marked = s->n.marked;
	r->data_bytes = s->n.data_bytes;
	/* Nothing else to come: the run ends, or is stuck and must say so. */
	if (s->queue.pending > 0)
		sim_at(s, event, s->now + SERIES_EVERY);
}

struct sim_series *sim_series_start(struct sim *s)
{
	struct sim_series *r = sim_alloc(1, sizeof(*r));

	r->per_point = 1;
	r->event.fire = sample_run;
	sim_at(s, &r->event, SERIES_EVERY);
	return r;
}

json_t *sim_series_json(const struct sim_series *r)
{
	json_t *core_max = json_array(), *core_mean = json_array(), *host_max = json_array(),
	       *moves = json_array(), *marked = json_array(), *data = json_array();

	for (uint32_t i = 0; i <= r->n && r->samples > 0; i++) {
		const struct point *p = &r->point[i];
		uint32_t samples = i < r->n ? r->per_point : r->samples;

		json_array_append_new(core_max, json_integer(p->core_max));
		json_array_append_new(core_mean, json_real(p->core_sum / samples));
		json_array_append_new(host_max, json_integer(p->host_max));
		json_array_append_new(moves, json_integer((json_int_t)p->moves));
		json_array_append_new(marked, json_integer((json_int_t)p->marked));
		json_array_append_new(data, json_integer((json_int_t)p->data_bytes));
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "point_us",
		(json_int_t)(r->per_point * SERIES_EVERY / SIM_US), "core_max_bytes", core_max,
		"core_mean_bytes", core_mean, "host_max_bytes", host_max, "moves", moves, "marked",
		marked, "data_bytes", data);
}
