/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * KV caches: a prefill host computes the layers of a model one after the other. When a layer is
 * ready, the host writes its pages to a decode host. The decode host counts the pages of each
 * layer. The tag of a message is the number of its layer.
 *
 * Source of the sizes: fabric-lib (transfer of the KV cache of a model with 61 layers).
 */
#include "sim/work/job.h"

static uint32_t count_layers(const struct sim_job_plan *p)
{
	return p->layers;
}

static uint32_t messages_of_layer(const struct sim_job_plan *p)
{
	return p->pages * (p->more_bytes > 0 ? 2 : 1);
}

static uint32_t kvcache_messages(const struct sim_job_plan *p)
{
	return p->layers * messages_of_layer(p);
}

static double kvcache_bytes(const struct sim_job_plan *p)
{
	return (double)p->layers * p->pages * (double)(p->bytes + p->more_bytes);
}

static void send_page(struct sim *s, const struct sim_job *j, uint64_t bytes)
{
	struct sim_demand d = {
		.src = j->rank[0].host, .dst = j->receiver, .bytes = bytes, .tag = j->layers_ready};

	sim_job_send(s, j, &d);
}

static void wait_for_layer(struct sim *s, struct sim_job *j)
{
	sim_at(s, &j->next, s->now + j->plan.layer);
}

static void layer_ready(struct sim *s, struct sim_event *event)
{
	struct sim_job *j = (struct sim_job *)event;

	j->layer[j->layers_ready] =
		(struct sim_layer){.ready = s->now, .left = messages_of_layer(&j->plan)};
	for (uint32_t i = 0; i < j->plan.pages; i++) {
		send_page(s, j, j->plan.bytes);
		if (j->plan.more_bytes > 0)
			send_page(s, j, j->plan.more_bytes);
	}
	if (++j->layers_ready < j->plan.layers)
		wait_for_layer(s, j);
}

/* The decode host of this round: always the same, or that of any job. */
static uint32_t draw_receiver(const struct sim *s, struct sim_job *j)
{
	if (!j->plan.random)
		return j->rank[1].host;
	return s->jobs->job[hp3_random_below(&j->rng, j->plan.n)].rank[1].host;
}

static void begin_request(struct sim *s, struct sim_job *j)
{
	if (j->layer == NULL)
		j->layer = sim_alloc(j->plan.layers, sizeof(*j->layer));
	j->receiver = draw_receiver(s, j);
	j->layers_ready = 0;
	j->next.fire = layer_ready;
	wait_for_layer(s, j);
}

static void add_time(struct sim_times *t, uint64_t time)
{
	if (t->n == t->cap) {
		t->cap = t->cap == 0 ? 1024 : 2 * t->cap;
		t->time = sim_realloc(t->time, t->cap * sizeof(*t->time));
	}
	t->time[t->n++] = time;
}

static void page_done(struct sim *s, struct sim_job *j, uint32_t layer)
{
	if (--j->layer[layer].left == 0)
		add_time(&s->jobs->layers, s->now - j->layer[layer].ready);
}

const struct sim_job_kind sim_job_kvcache = {
	.tags = count_layers,
	.messages = kvcache_messages,
	.bus_bytes = kvcache_bytes,
	.begin = begin_request,
	.done = page_done,
};
