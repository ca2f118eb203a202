/* SPDX-License-Identifier: BSD-3-Clause */
/* The network of a world: connections, and control channels. */
#include "tests/xfer/core/world.h"
#include <string.h>

#define LATEST_POLL (100 * MS)

struct link *network_link(struct world *w, uint32_t node, uint32_t peer, uint32_t *end)
{
	for (uint32_t i = w->n_links; i-- > 0;)
		for (*end = 0; *end < 2; ++*end) {
			struct link *l = w->link[i];

			if (l->node[*end] == node && l->life[*end] == w->node[node].life &&
				l->peer[*end] == (int)peer)
				return l;
		}
	*end = 0;
	return NULL;
}

static bool end_lives(const struct world *w, const struct link *l, uint32_t end)
{
	const struct node *n = &w->node[l->node[end]];

	return !n->dead && n->life == l->life[end] && l->peer[end] >= 0;
}

static struct hp3x_core *core_of(struct world *w, const struct link *l, uint32_t end)
{
	return w->node[l->node[end]].core;
}

static void drain_end(struct world *w, const struct link *l, uint32_t end)
{
	world_drain(w, l->node[end]);
}

/* --- requests --- */

static struct world_op *op_of(const struct hp3x_act *act)
{
	return (struct world_op *)(uintptr_t)act->post.region;
}

static bool lives_on(const struct world *w, const struct conn *c, uint32_t end)
{
	return end_lives(w, c->link, end) && c->end[end] != END_SHUT;
}

/* The rail of the requester accesses its own memory. */
static void local_access(struct world *w, const struct request *r)
{
	if (r->op != NULL && r->op->ended)
		world_fail(w, "op %u: local memory accessed after its end, path %u, conn %u",
			r->op->number, r->conn->path, r->conn->id);
}

static void queue_put(struct world *w, struct conn *c, uint32_t end, struct queued q)
{
	struct queued *copy = malloc(sizeof(*copy));
	uint64_t wait = world_time(w, 0, US);

	if (w->p.late)
		wait = world_time(w, 0, world_chance(w, 50) && !q.is_completion ? LATEST_POLL : MS);
	*copy = q;
	copy->next = NULL;
	copy->at = w->now + wait;
	if (c->tail[end][q.is_completion] != NULL) {
		uint64_t before = c->tail[end][q.is_completion]->at;

		copy->at = copy->at > before ? copy->at : before;
		c->tail[end][q.is_completion]->next = copy;
	} else {
		c->head[end][q.is_completion] = copy;
	}
	c->tail[end][q.is_completion] = copy;
	world_event(w, copy->at, EVENT_POLL, end, c);
}

/* Hands the core what has been queued until now. `all`: and the rest. */
static void queue_poll(struct world *w, struct conn *c, uint32_t end, bool all)
{
	for (unsigned kind = 0; kind < 2; kind++)
		while (c->head[end][kind] != NULL && (all || c->head[end][kind]->at <= w->now)) {
			struct queued *q = c->head[end][kind];

			c->head[end][kind] = q->next;
			if (q->next == NULL)
				c->tail[end][kind] = NULL;
			if (lives_on(w, c, end)) {
				if (q->is_completion)
					hp3x_core_completed(core_of(w, c->link, end), w->now,
						q->token, q->result);
				else
					hp3x_core_arrived(core_of(w, c->link, end), w->now,
						(uint32_t)c->link->peer[end], c->path, q->imm);
				drain_end(w, c->link, end);
			}
			free(q);
		}
}

static void request_leave(struct world *w, struct request *r)
{
	if (r->left || !lives_on(w, r->conn, r->from))
		return;
	r->left = true;
	if (r->act.kind != HP3X_ACT_WRITE)
		return;
	local_access(w, r);
	r->data = malloc(r->act.post.length);
	memcpy(r->data, r->op->local + r->act.post.offset, r->act.post.length);
}

static void write_land(struct world *w, struct request *r)
{
	struct conn *c = r->conn;
	uint32_t to = 1 - r->from;

	if (r->landed || !r->left || c->sealed[r->from] || !lives_on(w, c, to))
		return;
	r->landed = true;
	if (r->op->refuse) {
		c->sealed[r->from] = true;
		return;
	}
	if (r->op->ended && r->op->status == HP3X_OK)
		world_fail(w, "op %u: a late copy after OK, path %u, conn %u", r->op->number,
			c->path, c->id);
	if (r->op->reused)
		world_fail(w, "op %u: a copy after its counter has changed, path %u, conn %u",
			r->op->number, c->path, c->id);
	memcpy((void *)(uintptr_t)r->act.post.remote, r->data, r->act.post.length);
	if (r->op->ended)
		w->sum_late++;
	if (r->act.has_imm)
		queue_put(w, c, to, (struct queued){.imm = r->act.post.imm});
}

/* All writes before this one of the connection land first. */
static void request_land(struct world *w, struct request *r)
{
	struct conn *c = r->conn;
	uint32_t to = 1 - r->from;
	void *remote = (void *)(uintptr_t)r->act.post.remote;

	for (struct request *q = c->first[r->from]; r->act.kind == HP3X_ACT_WRITE && q != r;
		q = q->next) {
		if (q->act.kind != HP3X_ACT_WRITE)
			continue;
		request_leave(w, q);
		write_land(w, q);
		if (!q->landed)
			return;
	}
	if (r->act.kind == HP3X_ACT_WRITE)
		write_land(w, r);
	if (r->landed || !r->left || r->act.kind == HP3X_ACT_WRITE || !lives_on(w, c, to))
		return;
	if (r->act.kind == HP3X_ACT_READ) {
		if (!lives_on(w, c, r->from))
			return;
		local_access(w, r);
		memcpy(r->op->local + r->act.post.offset, remote, r->act.post.length);
	}
	r->landed = true;
}

static void request_complete(struct world *w, struct request *r, enum hp3x_result result)
{
	if (r->completed)
		return;
	r->completed = true;
	queue_put(w, r->conn, r->from,
		(struct queued){
			.is_completion = true, .token = r->act.post.token, .result = result});
}

static bool rails_down(const struct world *w, const struct conn *c)
{
	for (uint32_t end = 0; end < 2; end++) {
		uint32_t own, other;

		if (end_lives(w, c->link, end) &&
			hp3x_core_path_rails(w->node[c->link->node[end]].core,
				(uint32_t)c->link->peer[end], c->path, &own, &other) &&
			w->node[c->link->node[end]].rail_down[own])
			return true;
	}
	return false;
}

static void request_deliver(struct world *w, struct request *r)
{
	struct conn *c = r->conn;

	if (!c->broken && rails_down(w, c))
		network_break(w, c);
	if (c->broken || r->hangs) { /* late, or executed without a completion */
		if (r->landed && !c->broken)
			return;
		request_leave(w, r);
		request_land(w, r);
		return;
	}
	if (r->op != NULL && r->op->refuse) {
		request_leave(w, r);
		request_land(w, r);
		r->op->refused = r->landed = true; /* never executed */
		request_complete(w, r, HP3X_RESULT_REFUSED);
		if (!(w->p.healthy && c->path == 0) && world_chance(w, 5000))
			network_break(w, c);
	} else if (!r->landed) {
		request_leave(w, r);
		request_land(w, r);
		if (!r->landed)
			network_break(w, c); /* the other end is shut */
		else
			world_event(w, w->now + c->delay, EVENT_DELIVER, 0, r);
	} else {
		request_complete(w, r, HP3X_RESULT_OK);
	}
}

static void request_post(struct world *w, struct conn *c, uint32_t end, const struct hp3x_act *act)
{
	struct request *r = calloc(1, sizeof(*r));
	bool reads = act->kind == HP3X_ACT_READ;
	uint32_t way = reads ? 1 - end : end;
	uint64_t rate = c->link->slow_until[c->path] > w->now ? c->rate / 10 : c->rate;
	uint64_t start = c->free_at[way] > w->now ? c->free_at[way] : w->now;

	*r = (struct request){.conn = c, .from = end, .act = *act};
	r->op = act->kind == HP3X_ACT_PROBE ? NULL : op_of(act);
	if (c->last[end] != NULL)
		c->last[end]->next = r;
	else
		c->first[end] = r;
	c->last[end] = r;
	if (r->op != NULL) {
		uint64_t slice = act->post.offset / 1024;

		w->sum_posts++;
		if (r->op->ended)
			world_fail(w, "op %u: posted after its end", r->op->number);
		if (r->op->posts[slice]++ > 0)
			w->sum_again++;
		if (r->op->posts[slice] > 3 && w->p.healthy && w->p.deaths == 0 && !w->p.refusals)
			world_fail(w, "op %u: slice at %llu sent %u times", r->op->number,
				(unsigned long long)act->post.offset, r->op->posts[slice]);
	}
	if (c->broken) {
		if (world_chance(w, 3000))
			request_complete(w, r, HP3X_RESULT_FAILED);
		return;
	}
	c->free_at[way] = start + act->post.length * SECOND / rate;
	r->at = c->free_at[way] + c->delay + (reads ? c->delay : 0) + world_time(w, 0, US);
	r->at = r->at > c->last_at[end] ? r->at : c->last_at[end];
	c->last_at[end] = r->at;
	r->hangs = world_chance(w, w->p.hangs) && w->now < w->faults_end &&
		   !(w->p.healthy && c->path == 0);
	if (!r->hangs || world_chance(w, 5000))
		world_event(w, r->at, EVENT_DELIVER, 0, r);
}

/* --- connections --- */

void network_break(struct world *w, struct conn *c)
{
	if (c->broken)
		return;
	c->broken = true;
	w->sum_breaks++;
	for (uint32_t end = 0; end < 2; end++) {
		bool told = world_chance(w, 6000);

		if (told)
			world_event(w, world_time(w, w->now, w->now + MS), EVENT_REPORT, end, c);
		for (struct request *r = c->first[end]; r != NULL; r = r->next) {
			if (r->completed)
				continue;
			if (!r->landed && world_chance(w, 3000))
				world_event(w, world_time(w, w->now, w->now + 200 * MS),
					EVENT_DELIVER, 0, r);
			if (told)
				request_complete(w, r, HP3X_RESULT_FAILED);
		}
	}
}

/* The last moment in which the end is open: what is late happens now. */
static void end_sweep(struct world *w, struct conn *c, uint32_t end)
{
	for (uint32_t from = 0; from < 2; from++)
		for (struct request *r = c->first[from]; r != NULL; r = r->next) {
			if (r->landed || world_chance(w, 2000))
				continue;
			request_leave(w, r);
			/* Data of a write arrive even later: when the other end is shut. */
			if (r->act.kind == HP3X_ACT_READ || from != end || world_chance(w, 2000))
				request_land(w, r);
		}
	queue_poll(w, c, end, true);
}

static void conn_free(struct conn *c)
{
	for (uint32_t end = 0; end < 2; end++) {
		while (c->first[end] != NULL) {
			struct request *r = c->first[end];

			c->first[end] = r->next;
			free(r->data);
			free(r);
		}
		for (unsigned kind = 0; kind < 2; kind++)
			while (c->head[end][kind] != NULL) {
				struct queued *q = c->head[end][kind];

				c->head[end][kind] = q->next;
				free(q);
			}
	}
	free(c);
}

static struct conn *conns[CONNS];

static struct conn *conn_create(struct world *w, struct link *l, uint32_t path)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (w->n_conns == CONNS)
		abort();
	c->link = l;
	c->path = path;
	c->id = w->n_conns;
	c->rate = SECOND; /* 1 GB/s */
	c->delay = (5 + 3 * path) * US;
	conns[w->n_conns++] = c;
	l->conn[path] = c;
	l->opens[path]++;
	return c;
}

static void end_open(struct world *w, struct link *l, uint32_t end, uint32_t path)
{
	struct hp3x_greeting own, other;
	struct conn *c = l->conn[path];
	bool opener = true;

	hp3x_core_greet(core_of(w, l, end), &own);
	if (end_lives(w, l, 1 - end)) {
		hp3x_core_greet(core_of(w, l, 1 - end), &other);
		opener = own.identity > other.identity;
	} else if (c != NULL && c->end[end] == END_NONE) {
		opener = false;
	}
	if (opener) {
		if (c != NULL && (c->end[end] != END_SHUT || (c->end[1 - end] != END_SHUT &&
								     c->end[1 - end] != END_NONE)))
			world_fail(w, "path %u is opened before it was shut at both ends", path);
		c = conn_create(w, l, path);
	} else if (c == NULL || c->end[end] != END_NONE) {
		world_fail(w, "path %u: the acceptor opens it twice", path);
		return;
	}
	c->end[end] = END_OPEN;
	world_event(w, world_time(w, w->now, w->now + 20 * US), EVENT_OPENED, end, c);
}

static void end_connect(struct world *w, struct conn *c, uint32_t end, const struct hp3x_act *act)
{
	if (act->blob.length != sizeof(c->id) || memcmp(act->blob.data, &c->id, sizeof(c->id)) != 0)
		world_fail(w, "path %u connects to an endpoint of another opening", c->path);
	world_event(w, world_time(w, w->now, w->now + 20 * US), EVENT_CONNECTED, end, c);
}

static void end_shut(struct world *w, struct conn *c, uint32_t end)
{
	uint64_t most = world_chance(w, 500) ? 400 * MS : 2 * MS;

	if (c->end[end] == END_SHUTTING || c->end[end] == END_SHUT)
		world_fail(w, "path %u is shut twice", c->path);
	c->end[end] = END_SHUTTING;
	w->sum_shuts++;
	world_event(w, world_time(w, w->now, w->now + most), EVENT_SHUT, end, c);
}

/* --- control channels --- */

static void channel_next(struct world *w, struct link *l, uint32_t from)
{
	struct channel *ch = &l->channel[from];
	uint64_t at = world_time(w, w->now + 5 * US, w->now + 100 * US);

	if (ch->busy || ch->n == 0)
		return;
	ch->busy = true;
	world_event(w, at > ch->stalled ? at : ch->stalled, EVENT_CHANNEL, from, l);
}

static void channel_put(struct world *w, struct link *l, uint32_t from, const struct hp3x_act *act)
{
	struct channel *ch = &l->channel[from];
	struct message *m = &ch->queue[(ch->head + ch->n) % MESSAGES];

	if (ch->full)
		world_fail(w, "a message, though the channel is full");
	if (ch->n == MESSAGES)
		abort();
	m->length = act->blob.length;
	m->data = malloc(m->length);
	memcpy(m->data, act->blob.data, m->length);
	ch->n++;
	if (ch->n > 16) {
		ch->full = true;
		hp3x_core_writable(core_of(w, l, from), (uint32_t)l->peer[from], false);
	}
	channel_next(w, l, from);
}

static void channel_deliver(struct world *w, struct link *l, uint32_t from)
{
	struct channel *ch = &l->channel[from];
	struct message m = ch->queue[ch->head];
	uint32_t to = 1 - from;

	ch->busy = false;
	if (!end_lives(w, l, from) || !end_lives(w, l, to) || l->lost[0] || l->lost[1])
		return;
	if (!l->up[to] || ch->stalled > w->now) {
		channel_next(w, l, from);
		return;
	}
	ch->head = (ch->head + 1) % MESSAGES;
	ch->n--;
	if (hp3x_core_message(core_of(w, l, to), w->now, (uint32_t)l->peer[to], m.data, m.length) !=
		0)
		world_fail(w, "message %u of %u bytes is refused", m.data[0], m.length);
	free(m.data);
	drain_end(w, l, to);
	if (ch->full && ch->n < 4 && end_lives(w, l, from)) {
		ch->full = false;
		hp3x_core_writable(core_of(w, l, from), (uint32_t)l->peer[from], true);
		drain_end(w, l, from);
	}
	channel_next(w, l, from);
}

void network_connect(struct world *w, uint32_t a, uint32_t b)
{
	struct link *l = calloc(1, sizeof(*l));

	if (w->n_links == LINKS)
		abort();
	w->link[w->n_links++] = l;
	l->node[0] = a;
	l->node[1] = b;
	for (uint32_t end = 0; end < 2; end++) {
		l->life[end] = w->node[l->node[end]].life;
		l->peer[end] = hp3x_core_peer_add(core_of(w, l, end), w->now);
		world_event(w, world_time(w, w->now, w->now + MS), EVENT_GREET, end, l);
	}
}

static void end_greet(struct world *w, struct link *l, uint32_t end)
{
	struct hp3x_greeting other;

	if (!end_lives(w, l, end) || !end_lives(w, l, 1 - end) || l->lost[end])
		return;
	hp3x_core_greet(core_of(w, l, 1 - end), &other);
	if (hp3x_core_peer_up(core_of(w, l, end), w->now, (uint32_t)l->peer[end], &other) != 0)
		world_fail(w, "a greeting is refused");
	l->up[end] = true;
	drain_end(w, l, end);
}

/* --- acts and events --- */

void network_act(struct world *w, uint32_t node, const struct hp3x_act *act)
{
	uint32_t end;
	struct link *l = network_link(w, node, act->peer, &end);
	struct conn *c = l->conn[act->path];

	switch (act->kind) {
	case HP3X_ACT_MESSAGE:
		channel_put(w, l, end, act);
		break;
	case HP3X_ACT_OPEN:
		end_open(w, l, end, act->path);
		break;
	case HP3X_ACT_CONNECT:
		end_connect(w, c, end, act);
		break;
	case HP3X_ACT_SHUT:
		end_shut(w, c, end);
		break;
	default:
		if (c->end[end] != END_CONNECTED)
			world_fail(w, "path %u: a request in state %u", act->path, c->end[end]);
		request_post(w, c, end, act);
	}
}

static void end_event(struct world *w, enum event_kind kind, struct conn *c, uint32_t end)
{
	struct link *l = c->link;
	struct hp3x_core *core = core_of(w, l, end);
	uint32_t peer = (uint32_t)l->peer[end];
	bool bad = rails_down(w, c);

	if (!end_lives(w, l, end) || c->end[end] == END_SHUT)
		return;
	if (kind == EVENT_OPENED) {
		hp3x_core_opened(core, w->now, peer, c->path, &c->id, bad ? 0 : sizeof(c->id));
	} else if (kind == EVENT_CONNECTED) {
		if (c->end[end] == END_OPEN)
			c->end[end] = END_CONNECTED;
		hp3x_core_connected(core, w->now, peer, c->path, !bad);
	} else if (kind == EVENT_SHUT) {
		c->broken = true;
		end_sweep(w, c, end);
		c->end[end] = END_SHUT;
		hp3x_core_shut(core, w->now, peer, c->path);
	} else {
		hp3x_core_path_failed(core, w->now, peer, c->path);
	}
	drain_end(w, l, end);
}

void network_event(struct world *w, enum event_kind kind, uint32_t what, void *data)
{
	struct link *l = data;

	switch (kind) {
	case EVENT_DELIVER:
		request_deliver(w, data);
		break;
	case EVENT_POLL:
		queue_poll(w, data, what, false);
		break;
	case EVENT_CHANNEL:
		channel_deliver(w, l, what);
		break;
	case EVENT_GREET:
		end_greet(w, l, what);
		break;
	case EVENT_LOST:
		if (end_lives(w, l, what) && !l->lost[what]) {
			l->lost[what] = true;
			hp3x_core_peer_lost(core_of(w, l, what), w->now, (uint32_t)l->peer[what]);
			drain_end(w, l, what);
		}
		break;
	default:
		end_event(w, kind, data, what);
	}
}

void network_free(struct world *w)
{
	for (uint32_t i = 0; i < w->n_conns; i++)
		conn_free(conns[i]);
	for (uint32_t i = 0; i < w->n_links; i++) {
		for (uint32_t from = 0; from < 2; from++) {
			struct channel *ch = &w->link[i]->channel[from];

			for (; ch->n > 0; ch->n--, ch->head = (ch->head + 1) % MESSAGES)
				free(ch->queue[ch->head].data);
		}
		free(w->link[i]);
	}
}
