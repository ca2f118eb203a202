/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/xfer/core/world.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EVENTS (1u << 20)
#define AFTER  (15 * SECOND) /* all ops have to end so long after the last fault */

void world_event(struct world *w, uint64_t at, enum event_kind kind, uint32_t what, void *data)
{
	struct event {
		enum event_kind kind;
		uint32_t what;
		void *data;
	} *e = malloc(sizeof(*e));

	*e = (struct event){kind, what, data};
	if (w->heap.n == w->heap.cap)
		abort();
	hp3_heap_push(&w->heap, (struct hp3_heap_entry){.at = at, .event = e});
}

void world_fail(struct world *w, const char *format, ...)
{
	va_list ap;

	w->failed = true;
	fprintf(stderr, "seed %llu, %llu ns: ", (unsigned long long)w->p.seed,
		(unsigned long long)w->now);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

bool world_chance(struct world *w, uint32_t of_10000)
{
	return hp3_random_below(&w->random, 10000) < of_10000;
}

uint64_t world_time(struct world *w, uint64_t least, uint64_t most)
{
	return least + hp3_random(&w->random) % (most - least + 1);
}

void world_drain(struct world *w, uint32_t node)
{
	struct node *n = &w->node[node];
	struct hp3x_act act;
	uint64_t due;

	while (!n->dead && !w->failed && hp3x_core_act(n->core, w->now, &act)) {
		uint32_t end;
		struct link *l = network_link(w, node, act.peer, &end);

		switch (act.kind) {
		case HP3X_ACT_COUNT:
			ops_count(w, node, act.count.counter, act.count.add);
			break;
		case HP3X_ACT_ENDED:
			ops_ended(w, node, &act.ended);
			break;
		case HP3X_ACT_RECEIVED:
			ops_received(w, l, end, act.blob.data, act.blob.length);
			break;
		case HP3X_ACT_PEER:
			if (act.state == HP3X_PEER_GONE)
				l->lost[end] = true;
			break;
		default:
			network_act(w, node, &act);
		}
	}
	if (n->dead)
		return;
	for (uint32_t i = 0; i < w->n_links; i++)
		for (uint32_t end = 0; end < 2; end++) {
			struct link *l = w->link[i];

			if (l->node[end] == node && l->life[end] == n->life && l->lost[end] &&
				l->peer[end] >= 0 &&
				hp3x_core_peer_free(n->core, (uint32_t)l->peer[end]))
				l->peer[end] = -1;
		}
	due = hp3x_core_due(n->core);
	if (due != UINT64_MAX && due != n->due) {
		n->due = due;
		world_event(w, due > w->now ? due : w->now, EVENT_TICK, node, NULL);
	}
}

static void node_create(struct world *w, uint32_t number)
{
	struct hp3x_core_config config;
	struct node *n = &w->node[number];
	size_t size;

	hp3x_core_defaults(&config);
	config.identity = hp3_random(&w->random) | 1;
	config.peers = LINKS;
	config.ops = 256;
	config.slices = w->p.slices != 0 ? w->p.slices : 1024;
	config.rails = w->p.rails;
	config.paths_per_rail = w->p.paths_per_rail;
	config.slice_bytes = 1024;
	config.seed = hp3_random(&w->random);
	size = hp3x_core_size(&config);
	free(n->memory);
	n->memory = aligned_alloc(64, (size + 63) & ~(size_t)63);
	n->core = hp3x_core_create(&config, n->memory, w->now);
	n->life++;
	n->dead = false;
	n->due = UINT64_MAX;
	memset(n->rail_down, 0, sizeof(n->rail_down));
}

static void event_do(struct world *w, enum event_kind kind, uint32_t what, void *data)
{
	switch (kind) {
	case EVENT_TICK:
		if (w->node[what].dead || w->node[what].due > w->now)
			return;
		w->node[what].due = UINT64_MAX;
		hp3x_core_tick(w->node[what].core, w->now);
		world_drain(w, what);
		break;
	case EVENT_SUBMIT:
		if (!w->node[what].dead)
			ops_submit(w, what);
		break;
	case EVENT_FAULT:
		if (what == 1000) /* a node returns */
			node_create(w, (uint32_t)(uintptr_t)data);
		faults_event(w, what, data);
		break;
	default:
		network_event(w, kind, what, data);
	}
}

static void world_begin(struct world *w)
{
	for (uint32_t i = 0; i < w->p.nodes; i++)
		node_create(w, i);
	for (uint32_t i = 0; i < w->p.nodes; i++)
		for (uint32_t j = i + 1; j < w->p.nodes; j++)
			network_connect(w, i, j);
	for (uint32_t i = 0; i < w->p.ops; i++)
		world_event(w, world_time(w, 0, w->faults_end * 9 / 10), EVENT_SUBMIT,
			hp3_random_below(&w->random, w->p.nodes), NULL);
	faults_begin(w);
}

int world_run(const struct world_params *p)
{
	struct world *w = calloc(1, sizeof(*w));
	int failed;

	w->p = *p;
	w->random = p->seed;
	w->now = SECOND;
	w->faults_end = w->now + p->faults_ns;
	w->heap.cap = EVENTS;
	w->heap.a = malloc(EVENTS * sizeof(*w->heap.a));
	w->op = calloc(p->ops, sizeof(*w->op));
	world_begin(w);
	while (w->heap.n > 0 && !w->failed) {
		struct hp3_heap_entry e = hp3_heap_pop(&w->heap);
		struct event {
			enum event_kind kind;
			uint32_t what;
			void *data;
		} event;

		memcpy(&event, e.event, sizeof(event));
		free(e.event);
		if (e.at > w->faults_end + AFTER)
			break;
		w->now = e.at;
		event_do(w, event.kind, event.what, event.data);
	}
	if (!w->failed)
		ops_check(w);
	if (getenv("HP3_SHOW") != NULL)
		fprintf(stderr,
			"seed %llu: %u ops, OK %llu, timed out %llu, cancelled %llu, lost %llu, "
			"refused %llu; posts %llu, again %llu, late %llu, breaks %llu, shuts "
			"%llu\n",
			(unsigned long long)p->seed, w->n_ops, (unsigned long long)w->sum_status[0],
			(unsigned long long)w->sum_status[1], (unsigned long long)w->sum_status[2],
			(unsigned long long)w->sum_status[3], (unsigned long long)w->sum_status[4],
			(unsigned long long)w->sum_posts, (unsigned long long)w->sum_again,
			(unsigned long long)w->sum_late, (unsigned long long)w->sum_breaks,
			(unsigned long long)w->sum_shuts);
	failed = w->failed;
	while (w->heap.n > 0)
		free(hp3_heap_pop(&w->heap).event);
	free(w->heap.a);
	network_free(w);
	ops_free(w);
	for (uint32_t i = 0; i < NODES; i++)
		free(w->node[i].memory);
	free(w);
	return failed;
}
