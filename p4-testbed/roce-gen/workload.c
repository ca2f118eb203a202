/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/random.h"
#include "workload.h"

#define GAP_NS_PER_SEC 1e9

static double draw_uniform(struct gen_workload *w)
{
	return (double)(hp3_random(&w->random) >> 11) / 9007199254740992.0; /* 2^53 */
}

static enum gen_op draw_op(struct gen_workload *w)
{
	uint32_t sum = 0, at;
	unsigned op = 0;

	for (unsigned i = 0; i < GEN_OPS; i++)
		sum += w->p.weight[i];
	at = (uint32_t)(draw_uniform(w) * sum);
	for (; op < GEN_OPS - 1 && at >= w->p.weight[op]; op++)
		at -= w->p.weight[op];
	return (enum gen_op)op;
}

static uint32_t draw_size(struct gen_workload *w)
{
	return w->p.cdf != NULL
		       ? (uint32_t)hp3_cdf_size(w->p.cdf, (uint32_t)(hp3_random(&w->random) >> 32))
		       : w->p.size;
}

static void post_operation(
	struct gen_workload *w, uint32_t i, enum gen_op op, uint32_t len, uint64_t now)
{
	struct gen_qp *q = w->qps[i];

	w->posted[i]++;
	if (gen_endpoint_post(w->ep, q, op, len, q->memory, now) != 0) {
		w->refused++;
		return;
	}
	w->open++;
	w->total++;
}

static bool may_post_more(const struct gen_workload *w, uint64_t so_far)
{
	return !w->stopped && (w->p.messages == 0 || so_far < w->p.messages);
}

static void post_closed(struct gen_workload *w, uint32_t i, uint64_t now)
{
	while (!w->qps[i]->failed && may_post_more(w, w->posted[i]) &&
		gen_requester_open(&w->qps[i]->requester) < w->p.depth) {
		enum gen_op op = draw_op(w);

		post_operation(w, i, op, draw_size(w), now);
	}
}

static void post_round(struct gen_workload *w, uint64_t now)
{
	w->round_began = now;
	w->next = UINT64_MAX;
	for (uint32_t i = 0; i < w->n_qps; i++) {
		enum gen_op op = draw_op(w);

		post_operation(w, i, op, draw_size(w), now);
	}
}

static double draw_gap(struct gen_workload *w)
{
	double mean = w->p.cdf != NULL ? (double)hp3_cdf_mean(w->p.cdf) : w->p.size;

	return -log(1 - draw_uniform(w)) * mean * 8 * GAP_NS_PER_SEC / (double)w->p.bps;
}

static void post_arrivals(struct gen_workload *w, uint64_t now)
{
	while (w->next <= now) {
		enum gen_op op = draw_op(w);
		uint32_t i = (uint32_t)(hp3_random(&w->random) % w->n_qps);

		/* The arrival counts, not when there was time for it. */
		post_operation(w, i, op, draw_size(w), w->next);
		w->rounds++;
		w->next =
			may_post_more(w, w->rounds) ? w->next + (uint64_t)draw_gap(w) : UINT64_MAX;
	}
}

static uint64_t steps_per_round(const struct gen_workload *w)
{
	return 2 * (w->p.ranks - 1);
}

/* Step j may go once j steps have arrived. */
static void post_steps(struct gen_workload *w, uint32_t i, uint64_t now)
{
	uint32_t len = w->p.size / w->p.ranks / w->n_qps;

	while (w->posted[i] <= w->arrived[i] &&
		may_post_more(w, w->posted[i] / steps_per_round(w))) {
		if (i == 0 && w->posted[i] % steps_per_round(w) == 0)
			w->round_began = now;
		post_operation(w, i, GEN_WRITE_IMM, len > 0 ? len : 1, now);
	}
}

static void note_allreduce(struct gen_workload *w, uint64_t now)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < w->n_qps; i++)
		least = hp3_min_u64(least, w->arrived[i]);
	if (least / steps_per_round(w) <= w->rounds)
		return;
	w->rounds++;
	gen_histogram_add(&w->round, now - w->round_began);
}

static uint32_t largest_message(const struct gen_workload_params *p)
{
	return p->cdf != NULL ? (uint32_t)p->cdf->size[p->cdf->n - 1] : p->size;
}

static int collect_qps(struct gen_workload *w)
{
	w->qps = calloc(w->ep->n_qps + 1, sizeof(struct gen_qp *));
	w->posted = calloc(w->ep->n_qps + 1, sizeof(*w->posted));
	w->arrived = calloc(w->ep->n_qps + 1, sizeof(*w->arrived));
	if (w->qps == NULL || w->posted == NULL || w->arrived == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->ep->n_qps; i++) {
		struct gen_qp *q = &w->ep->qps[i];

		/* A neighbour in the ring may have begun already. */
		if (!q->loads && q->channel < w->ep->n_qps)
			w->arrived[q->channel] += q->responder.n.messages;
		if (!q->loads || w->p.load == GEN_LOAD_NONE)
			continue;
		q->load_at = w->n_qps;
		w->qps[w->n_qps++] = q;
		if (q->memory_size < largest_message(&w->p))
			return -EINVAL;
	}
	return 0;
}

int gen_workload_start(struct gen_workload *w, const struct gen_workload_params *p,
	struct gen_endpoint *ep, uint64_t now)
{
	int ret;

	*w = (struct gen_workload){.p = *p, .ep = ep, .random = p->seed, .next = UINT64_MAX};
	ret = collect_qps(w);
	if (ret != 0)
		return ret;
	if (w->n_qps == 0)
		w->p.load = GEN_LOAD_NONE;
	switch (w->p.load) {
	case GEN_LOAD_NONE:
		break;
	case GEN_LOAD_CLOSED:
		for (uint32_t i = 0; i < w->n_qps; i++)
			post_closed(w, i, now);
		break;
	case GEN_LOAD_POISSON:
		w->next = now + (uint64_t)draw_gap(w);
		break;
	case GEN_LOAD_ROUNDS:
		post_round(w, now);
		break;
	case GEN_LOAD_ALLREDUCE:
		for (uint32_t i = 0; i < w->n_qps; i++)
			post_steps(w, i, now);
		break;
	}
	return 0;
}

void gen_workload_free(struct gen_workload *w)
{
	free(w->qps);
	free(w->posted);
	free(w->arrived);
	*w = (struct gen_workload){0};
}

static void end_round(struct gen_workload *w, uint64_t now)
{
	if (w->open > 0 || w->next != UINT64_MAX)
		return;
	w->rounds++;
	gen_histogram_add(&w->round, now - w->round_began);
	if (may_post_more(w, w->rounds))
		w->next = now + w->p.gap_ns;
}

static void note_completed(struct gen_workload *w, const struct gen_event *e, uint64_t now)
{
	uint64_t ns = e->message.completed - e->message.posted;

	if (!e->qp->loads)
		return;
	w->open--;
	w->completed++;
	gen_histogram_add(&w->time[e->message.op], ns);
	gen_histogram_add(&w->all, ns);
	if (w->p.load == GEN_LOAD_CLOSED)
		post_closed(w, e->qp->load_at, now);
	else if (w->p.load == GEN_LOAD_ROUNDS)
		end_round(w, now);
}

static void note_arrived(struct gen_workload *w, const struct gen_event *e, uint64_t now)
{
	uint32_t i = e->qp->channel;

	if (w->p.load != GEN_LOAD_ALLREDUCE || e->qp->loads || !e->arrival.immediate ||
		i >= w->n_qps)
		return;
	w->arrived[i]++;
	note_allreduce(w, now);
	post_steps(w, i, now);
}

static void note_failed(struct gen_workload *w, const struct gen_qp *q)
{
	uint32_t open = gen_requester_open(&q->requester);

	if (!q->loads)
		return;
	w->open -= open;
	w->failed += open;
}

void gen_workload_event(struct gen_workload *w, const struct gen_event *e, uint64_t now)
{
	switch (e->type) {
	case GEN_COMPLETED:
		note_completed(w, e, now);
		break;
	case GEN_ARRIVED:
		note_arrived(w, e, now);
		break;
	case GEN_FAILED:
		note_failed(w, e->qp);
		break;
	}
}

uint64_t gen_workload_tick(struct gen_workload *w, uint64_t now)
{
	if (w->next <= now && w->p.load == GEN_LOAD_POISSON)
		post_arrivals(w, now);
	else if (w->next <= now && w->p.load == GEN_LOAD_ROUNDS)
		post_round(w, now);
	return w->next;
}

void gen_workload_stop(struct gen_workload *w)
{
	w->stopped = true;
	w->next = UINT64_MAX;
}

bool gen_workload_done(const struct gen_workload *w)
{
	if (w->p.load == GEN_LOAD_NONE)
		return true;
	if (w->open > 0 || w->next != UINT64_MAX)
		return false;
	if (w->p.load == GEN_LOAD_ALLREDUCE && !w->stopped)
		return w->p.messages > 0 && w->rounds >= w->p.messages;
	return true;
}
