/* SPDX-License-Identifier: BSD-3-Clause */
/* Ops: how they are submitted. */
#include "xfer/core/inside.h"
#include <string.h>
#include "base/minmax.h"

/* The peer of a new op, or NULL with *error set. */
static struct hp3xc_peer *peer_for_op(struct hp3x_core *c, uint32_t peer, int *error)
{
	struct hp3xc_peer *p = hp3xc_peer_of(c, peer);

	*error = p == NULL || p->gone ? -ENOTCONN : !hp3xc_link_is_used(&c->free_ops) ? -EAGAIN : 0;
	return *error == 0 ? p : NULL;
}

static struct hp3xc_op *op_take(
	struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3x_common *common)
{
	struct hp3xc_op *op = HP3XC_ELEMENT(c->free_ops.next, struct hp3xc_op, in_peer);
	uint32_t index = op->index, number = (op->number + 1) & INT32_MAX;

	hp3xc_link_remove(&op->in_peer);
	*op = (struct hp3xc_op){.index = index,
		.number = number != 0 ? number : 1,
		.peer = peer,
		.slot = HP3XC_NO_SLOT,
		.deadline = common->deadline,
		.context = common->context,
		.began = c->now};
	hp3xc_link_init(&op->in_peer);
	hp3xc_link_init(&op->in_queue);
	hp3xc_link_init(&op->in_talk);
	hp3xc_link_init(&op->in_check);
	return op;
}

/* From now on, the op ends by an act. */
static int64_t op_begin(struct hp3x_core *c, struct hp3xc_op *op)
{
	struct hp3xc_peer *peer = op->peer;

	peer->n_ops++;
	hp3xc_link_put(&peer->ops, &op->in_peer);
	if (op->n_slices > 0) {
		peer->backlog += op->length;
		hp3xc_link_put(&peer->queue, &op->in_queue);
		hp3xc_peer_ready(c, peer);
	}
	if (op->deadline != 0)
		hp3xc_timer_set(&c->timers, hp3xc_op_timer(c, op), op->deadline);
	hp3xc_op_touch(c, op);
	return (int64_t)((uint64_t)op->number << 32 | op->index);
}

static void op_refuse(struct hp3x_core *c, struct hp3xc_op *op)
{
	hp3xc_chunks_free(c, op->chunks);
	op->peer = NULL;
	hp3xc_link_put(&c->free_ops, &op->in_peer);
}

/* Looks at the remote region of a new op. */
static int remote_check(const struct hp3xc_peer *peer, const struct hp3x_remote *remote)
{
	if (remote == NULL || remote->n_rails == 0 || remote->n_rails > HP3X_RAILS)
		return -EINVAL;
	if (peer->state == HP3X_PEER_UP &&
		(remote->domain != peer->identity || remote->n_rails != peer->rails))
		return -ESTALE;
	return 0;
}

static bool is_inside(const struct hp3x_remote *remote, uint64_t offset, uint64_t length)
{
	return offset <= remote->length && length <= remote->length - offset;
}

static int count_set(struct hp3xc_op *op, uint32_t counter, uint32_t add)
{
	if (add != 0 && counter == HP3X_NO_COUNTER)
		add = 0;
	if (add != 0 && counter >= HP3X_COUNTERS)
		return -EINVAL;
	op->counter = counter;
	op->add = add;
	return 0;
}

static void remote_set(struct hp3xc_op *op, const struct hp3x_remote *remote)
{
	op->remote = remote->address;
	op->remote_domain = remote->domain;
	op->remote_rails = remote->n_rails;
	memcpy(op->key, remote->key, sizeof(op->key));
}

/* What writes and reads have in common: one range of memory at each end. */
struct range {
	uint8_t kind;
	const struct hp3x_common *common;
	const struct hp3x_region *region;
	const struct hp3x_remote *remote;
	struct hp3x_page at;
	uint64_t length;
	uint32_t counter, add;
};

static int64_t range_submit(struct hp3x_core *c, uint32_t peer_index, const struct range *r)
{
	struct hp3xc_op *op;
	int error;
	struct hp3xc_peer *peer = peer_for_op(c, peer_index, &error);

	if (peer == NULL)
		return error;
	error = remote_check(peer, r->remote);
	if (error == 0 && !is_inside(r->remote, r->at.to_offset, r->length))
		error = -EINVAL;
	if (error != 0)
		return error;
	op = op_take(c, peer, r->common);
	op->kind = r->kind;
	op->region = r->region;
	op->whole = r->at;
	op->length = r->length;
	remote_set(op, r->remote);
	if (count_set(op, r->counter, r->add) != 0 || !hp3xc_slices_plan(c, op)) {
		op_refuse(c, op);
		return -EINVAL;
	}
	return op_begin(c, op);
}

int64_t hp3x_core_write(
	struct hp3x_core *c, uint64_t now, uint32_t peer, const struct hp3x_write *w)
{
	c->now = now;
	return range_submit(c, peer,
		&(struct range){.kind = HP3XC_WRITE,
			.common = &w->common,
			.region = w->from,
			.remote = w->to,
			.at = {.from_offset = w->from_offset, .to_offset = w->to_offset},
			.length = w->length,
			.counter = w->counter,
			.add = w->add});
}

/* `from` of a page is local, `to` is remote: of a read, too. */
int64_t hp3x_core_read(struct hp3x_core *c, uint64_t now, uint32_t peer, const struct hp3x_read *r)
{
	c->now = now;
	return range_submit(c, peer,
		&(struct range){.kind = HP3XC_READ,
			.common = &r->common,
			.region = r->to,
			.remote = r->from,
			.at = {.from_offset = r->to_offset, .to_offset = r->from_offset},
			.length = r->length,
			.counter = r->counter,
			.add = r->add});
}

/* Copies the pages that are not empty. Errors: -EINVAL, -EAGAIN. */
static int pages_copy(struct hp3x_core *c, struct hp3xc_op *op, const struct hp3x_pages *pages)
{
	uint32_t n = (pages->n_pages + HP3XC_CHUNK_PAGES - 1) / HP3XC_CHUNK_PAGES;
	struct hp3xc_chunk *chunk = hp3xc_chunks_take(c, n);

	if (chunk == NULL)
		return -EAGAIN;
	op->chunks = chunk;
	for (uint32_t i = 0; i < pages->n_pages; i++) {
		const struct hp3x_page *page = &pages->page[i];

		if (!is_inside(pages->to, page->to_offset, page->length))
			return -EINVAL;
		if (page->length == 0)
			continue;
		if (op->n_pages != 0 && op->n_pages % HP3XC_CHUNK_PAGES == 0)
			chunk = chunk->next;
		chunk->page[op->n_pages++ % HP3XC_CHUNK_PAGES] = *page;
		op->length += page->length;
	}
	return 0;
}

int64_t hp3x_core_write_pages(
	struct hp3x_core *c, uint64_t now, uint32_t peer_index, const struct hp3x_pages *pages)
{
	struct hp3xc_op *op;
	int error;
	struct hp3xc_peer *peer;

	c->now = now;
	peer = peer_for_op(c, peer_index, &error);
	if (peer == NULL)
		return error;
	error = remote_check(peer, pages->to);
	if (error == 0 && (pages->n_pages == 0 || pages->n_pages > HP3X_MOST_PAGES))
		error = -EINVAL;
	if (error != 0)
		return error;
	op = op_take(c, peer, &pages->common);
	op->kind = HP3XC_WRITE;
	op->region = pages->from;
	remote_set(op, pages->to);
	error = count_set(op, pages->counter, pages->add);
	if (error == 0)
		error = pages_copy(c, op, pages);
	if (error == 0 && !hp3xc_slices_plan(c, op))
		error = -EINVAL;
	if (error != 0) {
		op_refuse(c, op);
		return error;
	}
	return op_begin(c, op);
}

int64_t hp3x_core_send(struct hp3x_core *c, uint64_t now, uint32_t peer_index, const void *data,
	size_t length, const struct hp3x_common *common)
{
	static const struct hp3x_common none;
	const uint8_t *from = data;
	struct hp3xc_op *op;
	int error;
	struct hp3xc_peer *peer;

	c->now = now;
	if (length > HP3X_MOST_SEND)
		return -EMSGSIZE;
	peer = peer_for_op(c, peer_index, &error);
	if (peer == NULL)
		return error;
	op = op_take(c, peer, common != NULL ? common : &none);
	op->kind = HP3XC_SEND;
	op->length = length;
	op->chunks = hp3xc_chunks_take(c, (uint32_t)((length + HP3XC_CHUNK - 1) / HP3XC_CHUNK));
	if (op->chunks == NULL && length > 0) {
		op_refuse(c, op);
		return -EAGAIN;
	}
	for (struct hp3xc_chunk *k = op->chunks; k != NULL; k = k->next) {
		size_t part = hp3_min_u64(length, HP3XC_CHUNK);

		memcpy(k->byte, from, part);
		from += part;
		length -= part;
	}
	op->talk = HP3XC_TALK_WAITS;
	hp3xc_link_put(&peer->talk, &op->in_talk);
	hp3xc_peer_talk(c, peer);
	return op_begin(c, op);
}
