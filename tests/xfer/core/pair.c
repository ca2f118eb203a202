/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/xfer/core/pair.h"

struct done {
	uint32_t core, path, opening;
	struct hp3x_act act;
};

struct hp3x_core_config pair_config(void)
{
	struct hp3x_core_config c;

	hp3x_core_defaults(&c);
	c.peers = 4;
	c.ops = 4096;
	c.slices = 4096;
	c.rails = 2;
	c.paths_per_rail = 1;
	c.seed = 7;
	return c;
}

struct hp3x_remote pair_remote(const struct pair *p)
{
	struct hp3x_greeting g;

	hp3x_core_greet(p->core[1], &g);
	return (struct hp3x_remote){
		.address = 1 << 20, .length = 1ull << 40, .domain = g.identity, .n_rails = g.rails};
}

struct pair *pair_create(const struct hp3x_core_config *config)
{
	struct pair *p = calloc(1, sizeof(*p));
	struct hp3x_greeting g;

	p->now = SECOND;
	p->heap.cap = PAIR_EVENTS;
	p->heap.a = malloc(PAIR_EVENTS * sizeof(*p->heap.a));
	p->queue = malloc(PAIR_QUEUE * sizeof(*p->queue));
	p->ended = malloc(PAIR_ENDS * sizeof(*p->ended));
	for (uint32_t i = 0; i < PAIR_PATHS; i++)
		p->path[i] = (struct pair_path){.rate = SECOND, .delay = 10 * US};
	for (uint32_t i = 0; i < 2; i++) {
		struct hp3x_core_config c = *config;
		size_t size = hp3x_core_size(&c);

		c.identity = 10 - i;
		size = hp3x_core_size(&c);
		p->memory[i] = aligned_alloc(64, size);
		memset(p->memory[i], 0xa5, size);
		p->core[i] = hp3x_core_create(&c, p->memory[i], p->now);
		p->peer[i] = hp3x_core_peer_add(p->core[i], p->now);
	}
	for (uint32_t i = 0; i < 2; i++) {
		hp3x_core_greet(p->core[1 - i], &g);
		assert_int_equal(
			hp3x_core_peer_up(p->core[i], p->now, (uint32_t)p->peer[i], &g), 0);
	}
	pair_drain(p);
	return p;
}

void pair_free(struct pair *p)
{
	while (p->heap.n > 0)
		free(hp3_heap_pop(&p->heap).event);
	free(p->heap.a);
	free(p->queue);
	free(p->ended);
	free(p->memory[0]);
	free(p->memory[1]);
	free(p);
}

struct hp3x_path pair_info(const struct pair *p, uint32_t core, uint32_t path)
{
	struct hp3x_path info;

	assert_true(hp3x_core_path_info(p->core[core], (uint32_t)p->peer[core], path, &info));
	return info;
}

static void request_put(struct pair *p, uint32_t core, const struct hp3x_act *act)
{
	struct pair_path *path = &p->path[act->path], *link = p->one_link ? p->path : path;
	struct done *d = malloc(sizeof(*d));
	uint32_t n = 0;
	uint64_t length = act->kind == HP3X_ACT_PROBE ? 0 : act->post.length, all = 0;

	*d = (struct done){core, act->path, (uint32_t)pair_info(p, core, act->path).openings, *act};
	if (link->free_at < p->now)
		link->free_at = p->now;
	link->free_at += length * SECOND / link->rate;
	if (core == 0) {
		uint64_t in_flight = pair_info(p, 0, act->path).in_flight;

		path->posts += act->kind != HP3X_ACT_PROBE;
		if (in_flight > path->most_in_flight)
			path->most_in_flight = in_flight;
		for (struct hp3x_path info;
			hp3x_core_path_info(p->core[0], (uint32_t)p->peer[0], n, &info); n++)
			all += info.in_flight;
		p->most_in_flight = all > p->most_in_flight ? all : p->most_in_flight;
	}
	assert_true(p->heap.n < p->heap.cap);
	hp3_heap_push(&p->heap,
		(struct hp3_heap_entry){.at = link->free_at + 2 * path->delay, .event = d});
}

static void immediate_put(struct pair *p, const struct done *d)
{
	struct pair_path *path = &p->path[d->path];

	p->imm_seen++;
	if (path->keeps && d->core == 0) {
		assert_true(path->n_kept < PAIR_KEPT);
		path->kept[path->n_kept++] = d->act.post.imm;
		return;
	}
	hp3x_core_arrived(p->core[1 - d->core], p->now, (uint32_t)p->peer[1 - d->core], d->path,
		d->act.post.imm);
	pair_drain(p);
}

void pair_deliver(struct pair *p, uint32_t path)
{
	struct pair_path *from = &p->path[path];

	for (uint32_t i = 0; i < from->n_kept; i++) {
		hp3x_core_arrived(p->core[1], p->now, (uint32_t)p->peer[1], path, from->kept[i]);
		pair_drain(p);
	}
	from->n_kept = 0;
	from->keeps = false;
}

static void request_end(struct pair *p, struct done *d)
{
	struct pair_path *path = &p->path[d->path];

	/* Nothing of an earlier opening arrives. */
	if (path->dead || pair_info(p, d->core, d->path).openings != d->opening)
		return;
	if (d->core == 0 && d->act.kind != HP3X_ACT_PROBE)
		path->bytes += d->act.post.length;
	if (d->act.has_imm)
		immediate_put(p, d);
	if (path->mute)
		return;
	hp3x_core_completed(p->core[d->core], p->now, d->act.post.token, HP3X_RESULT_OK);
	pair_drain(p);
}

static void act_do(struct pair *p, uint32_t i, const struct hp3x_act *act)
{
	struct pair_path *path = &p->path[act->path];
	struct pair_message *m;

	switch (act->kind) {
	case HP3X_ACT_OPEN:
		path->opens += i == 0;
		hp3x_core_opened(
			p->core[i], p->now, act->peer, act->path, "end", path->closed ? 0 : 3);
		break;
	case HP3X_ACT_CONNECT:
		hp3x_core_connected(p->core[i], p->now, act->peer, act->path, true);
		break;
	case HP3X_ACT_SHUT:
		path->shuts += i == 0;
		if (!p->holds)
			hp3x_core_shut(p->core[i], p->now, act->peer, act->path);
		break;
	case HP3X_ACT_MESSAGE:
		m = &p->queue[(p->head + p->n++) % PAIR_QUEUE];
		assert_true(p->n < PAIR_QUEUE && act->blob.length <= sizeof(m->data));
		m->to = 1 - i;
		m->length = act->blob.length;
		memcpy(m->data, act->blob.data, m->length);
		break;
	case HP3X_ACT_COUNT:
		if (i == 1)
			p->counter[act->count.counter] += act->count.add;
		break;
	case HP3X_ACT_RECEIVED:
		p->received++;
		break;
	case HP3X_ACT_ENDED:
		assert_true(p->n_ended < PAIR_ENDS);
		p->ended[p->n_ended++] = act->ended;
		break;
	case HP3X_ACT_PEER:
		p->state[i] = act->state;
		break;
	default:
		request_put(p, i, act);
	}
}

void pair_drain(struct pair *p)
{
	struct hp3x_act act;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = 0; i < 2; i++)
			while (hp3x_core_act(p->core[i], p->now, &act)) {
				act_do(p, i, &act);
				more = true;
			}
		if (p->n > 0 && !p->stalled) {
			struct pair_message m = p->queue[p->head];

			p->head = (p->head + 1) % PAIR_QUEUE;
			p->n--;
			assert_int_equal(hp3x_core_message(p->core[m.to], p->now,
						 (uint32_t)p->peer[m.to], m.data, m.length),
				0);
			more = true;
		}
	}
}

void pair_run(struct pair *p, uint64_t until)
{
	for (;;) {
		uint64_t next;

		pair_drain(p);
		next = hp3_heap_min(&p->heap);
		for (uint32_t i = 0; i < 2; i++)
			if (hp3x_core_due(p->core[i]) < next)
				next = hp3x_core_due(p->core[i]);
		if (next > until)
			break;
		p->now = next > p->now ? next : p->now;
		for (uint32_t i = 0; i < 2; i++)
			hp3x_core_tick(p->core[i], p->now);
		while (hp3_heap_min(&p->heap) <= p->now) {
			struct done *d = hp3_heap_pop(&p->heap).event;

			request_end(p, d);
			free(d);
		}
	}
	p->now = until;
}

int64_t pair_write(struct pair *p, uint64_t length, uint32_t counter, uint32_t add)
{
	struct hp3x_remote to = pair_remote(p);

	return hp3x_core_write(p->core[0], p->now, (uint32_t)p->peer[0],
		&(struct hp3x_write){.to = &to, .length = length, .counter = counter, .add = add});
}
