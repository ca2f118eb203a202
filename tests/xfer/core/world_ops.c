/* SPDX-License-Identifier: BSD-3-Clause */
/* What the nodes submit, and what has to hold of it. */
#include "tests/xfer/core/world.h"
#include <string.h>

#define TEXT 32u

uint8_t ops_byte(const struct world_op *op, uint64_t at)
{
	return (uint8_t)((op->number * 2654435761u >> 7) + at * 131 + (at >> 8));
}

/* A link of the node with a peer that it has. */
static struct link *link_choose(struct world *w, uint32_t node, uint32_t *end)
{
	struct link *found = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_links; i++)
		for (uint32_t e = 0; e < 2; e++) {
			struct link *l = w->link[i];

			if (l->node[e] != node || l->life[e] != w->node[node].life || l->lost[e] ||
				l->peer[e] < 0 || w->node[l->node[1 - e]].life != l->life[1 - e])
				continue;
			if (hp3_random_below(&w->random, ++n) == 0) {
				found = l;
				*end = e;
			}
		}
	return found;
}

static struct hp3x_remote remote_of(
	struct world *w, const struct link *l, uint32_t end, void *memory, uint64_t length)
{
	struct hp3x_greeting g;
	struct hp3x_remote r = {.address = (uintptr_t)memory, .length = length};

	hp3x_core_greet(w->node[l->node[1 - end]].core, &g);
	r.domain = g.identity;
	r.n_rails = g.rails;
	return r;
}

static int64_t pages_submit(struct world *w, struct world_op *op, struct hp3x_common common,
	const struct hp3x_remote *to, uint32_t peer)
{
	struct hp3x_page page[64];
	uint32_t n = 0;

	/* Pages of 1,024 bytes, the last one first. */
	for (uint64_t at = op->length; at > 0 && n < 64;) {
		uint64_t begin = (at - 1) / 1024 * 1024;

		page[n++] = (struct hp3x_page){begin, begin, (uint32_t)(at - begin)};
		at = begin;
	}
	return hp3x_core_write_pages(w->node[op->node].core, w->now, peer,
		&(struct hp3x_pages){.common = common,
			.from = (void *)op,
			.to = to,
			.page = page,
			.n_pages = n,
			.counter = op->counter,
			.add = op->add});
}

static int64_t op_submit(struct world *w, struct world_op *op, struct link *l, uint32_t end)
{
	struct hp3x_common common = {.deadline = op->deadline, .context = op};
	struct hp3x_remote to = remote_of(w, l, end, op->remote, op->length);
	struct hp3x_core *core = w->node[op->node].core;
	uint32_t peer = (uint32_t)l->peer[end], text[TEXT / 4] = {0};

	if (op->kind == OP_SEND) {
		text[0] = op->number;
		text[1] = op->order;
		return hp3x_core_send(core, w->now, peer, text, TEXT, &common);
	}
	if (op->kind == OP_READ)
		return hp3x_core_read(core, w->now, peer,
			&(struct hp3x_read){.common = common,
				.to = (void *)op,
				.from = &to,
				.length = op->length,
				.counter = op->counter,
				.add = op->add});
	if (op->pages)
		return pages_submit(w, op, common, &to, peer);
	return hp3x_core_write(core, w->now, peer,
		&(struct hp3x_write){.common = common,
			.from = (void *)op,
			.to = &to,
			.length = op->length,
			.counter = op->counter,
			.add = op->add});
}

static void op_draw(struct world *w, struct world_op *op)
{
	static const uint8_t kind[] = {OP_WRITE, OP_WRITE, OP_WRITE, OP_READ, OP_SEND};
	uint8_t *data;

	op->kind = kind[hp3_random_below(&w->random, 5)];
	op->length = world_chance(w, 3000) ? 1 : world_time(w, 0, w->p.length);
	if (world_chance(w, 300))
		op->length = 0;
	op->pages = op->kind == OP_WRITE && op->length > 0 && op->length <= 65536 &&
		    world_chance(w, 3000);
	op->counter = op->number % HP3X_COUNTERS;
	op->add = op->kind == OP_SEND || world_chance(w, 3000) ? 0 : 1 + op->number % 400;
	op->deadline = w->p.deadlines && world_chance(w, 3000)
			       ? world_time(w, w->now, w->now + 300 * MS)
			       : 0;
	op->refuse = w->p.refusals && op->kind != OP_SEND && world_chance(w, 300);
	op->local = malloc(op->length + 1);
	op->remote = malloc(op->length + 1);
	op->posts = calloc(1, op->length / 1024 + 2);
	data = op->kind == OP_READ ? op->remote : op->local;
	for (uint64_t i = 0; i < op->length; i++)
		data[i] = ops_byte(op, i);
}

void ops_submit(struct world *w, uint32_t node)
{
	struct world_op *op = &w->op[w->n_ops];
	uint32_t end = 0;
	struct link *l = link_choose(w, node, &end);

	if (l == NULL)
		return;
	*op = (struct world_op){.number = w->n_ops, .node = node, .life = w->node[node].life};
	while (w->link[op->link] != l)
		op->link++;
	op_draw(w, op);
	if (op->kind == OP_SEND)
		op->order = ++l->orders[end];
	op->op = op_submit(w, op, l, end);
	w->n_ops++;
	if (op->op < 0) {
		if (op->op != -EAGAIN && op->op != -ENOTCONN)
			world_fail(w, "op %u is refused: %lld", op->number, (long long)op->op);
		op->ended = true;
		op->add = 0;
	} else if (w->p.cancels && world_chance(w, 1000)) {
		op->cancelled = world_time(w, w->now, w->now + MS);
		world_event(w, op->cancelled, EVENT_FAULT, 2000, op);
	}
	world_drain(w, node);
}

static bool is_right(const struct world_op *op, const uint8_t *data)
{
	for (uint64_t i = 0; i < op->length; i++)
		if (data[i] != ops_byte(op, i))
			return false;
	return true;
}

void ops_ended(struct world *w, uint32_t node, const struct hp3x_completion *c)
{
	struct world_op *op = c->context;
	const struct link *l = w->link[op->link];

	if (op->ended || (int64_t)c->op != op->op)
		world_fail(w, "op %u ends twice", op->number);
	op->ended = true;
	op->status = c->status;
	w->sum_status[c->status]++;
	if (op->deadline != 0 && w->now > op->deadline + HP3X_FENCE_MS * MS)
		world_fail(w, "op %u ends %llu ms after its deadline", op->number,
			(unsigned long long)((w->now - op->deadline) / MS));
	if ((c->status == HP3X_TIMED_OUT && (op->deadline == 0 || w->now < op->deadline)) ||
		(c->status == HP3X_CANCELLED && op->cancelled == 0) ||
		(c->status == HP3X_REFUSED && !op->refused) ||
		(c->status == HP3X_PEER_LOST && !l->lost[0] && !l->lost[1]) ||
		c->status == HP3X_CLOSED)
		world_fail(w, "op %u ends with %u", op->number, c->status);
	if (c->status != HP3X_OK || op->kind == OP_SEND)
		return;
	if (op->refuse && op->length > 0)
		world_fail(w, "op %u was refused, but is OK", op->number);
	if (!op->reused && !is_right(op, op->kind == OP_READ ? op->local : op->remote))
		world_fail(w, "op %u has wrong data", op->number);
	/* The memory has another use from now on. */
	memset(op->remote, 0xee, op->length);
}

void ops_count(struct world *w, uint32_t node, uint32_t counter, uint32_t add)
{
	struct world_op *op = &w->op[counter];

	if (counter >= w->n_ops) {
		world_fail(w, "counter %u is nobody's", counter);
		return;
	}
	op->counted += add;
	if (op->counted > op->add)
		world_fail(w, "op %u: its counter has %llu of %u", op->number,
			(unsigned long long)op->counted, op->add);
	if (op->kind == OP_WRITE && !op->ended && !is_right(op, op->remote))
		world_fail(w, "op %u counts before all data have arrived", op->number);
	if (op->kind != OP_WRITE || op->counted < op->add)
		return;
	op->reused = true;
	memset(op->remote, 0xdd, op->length);
}

void ops_received(struct world *w, struct link *l, uint32_t end, const void *data, uint32_t length)
{
	uint32_t text[TEXT / 4];
	struct world_op *op;

	memcpy(text, data, sizeof(text));
	op = &w->op[text[0]];
	if (length != TEXT || text[0] >= w->n_ops || op->order != text[1] || op->received)
		world_fail(w, "a message is wrong, or comes twice");
	if (text[1] <= l->heard[end])
		world_fail(w, "message %u comes after %u", text[1], l->heard[end]);
	l->heard[end] = text[1];
	op->received = true;
}

/* At the end of the world. */
void ops_check(struct world *w)
{
	for (uint32_t i = 0; i < w->n_ops && !w->failed; i++) {
		const struct world_op *op = &w->op[i];
		const struct link *l = w->link[op->link];
		bool both = w->node[l->node[0]].life == l->life[0] &&
			    w->node[l->node[1]].life == l->life[1] && !l->lost[0] && !l->lost[1];

		if (w->node[op->node].life != op->life)
			continue;
		if (!op->ended)
			world_fail(w, "op %u (kind %u, %llu bytes) has not ended", i, op->kind,
				(unsigned long long)op->length);
		if (op->op < 0 || !both)
			continue;
		if (op->status == HP3X_OK && op->counted != op->add)
			world_fail(w, "op %u: its counter has %llu of %u", i,
				(unsigned long long)op->counted, op->add);
		if (op->counted != 0 && op->counted != op->add)
			world_fail(w, "op %u: its counter has a part", i);
		if (op->status == HP3X_OK && op->kind == OP_SEND && !op->received)
			world_fail(w, "op %u is OK, but was not received", i);
	}
	for (uint32_t i = 0; i < w->n_links && !w->failed; i++)
		for (uint32_t end = 0; end < 2; end++) {
			const struct link *l = w->link[i];
			struct hp3x_path path;

			if (l->lost[0] || l->lost[1] || l->peer[0] < 0 || l->peer[1] < 0 ||
				w->node[l->node[0]].life != l->life[0] ||
				w->node[l->node[1]].life != l->life[1])
				continue;
			for (uint32_t n = 0; hp3x_core_path_info(
				     w->node[l->node[end]].core, (uint32_t)l->peer[end], n, &path);
				n++)
				if (path.state != HP3X_PATH_UP)
					world_fail(
						w, "link %u: path %u has not come up again", i, n);
		}
}

void ops_free(struct world *w)
{
	for (uint32_t i = 0; i < w->n_ops; i++) {
		free(w->op[i].local);
		free(w->op[i].remote);
		free(w->op[i].posts);
	}
	free(w->op);
}
