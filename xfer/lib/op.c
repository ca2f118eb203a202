/* SPDX-License-Identifier: BSD-3-Clause */
/* Ops: submission with checks of what is local, completions, cancel. */
#include <errno.h>
#include "app/clock.h"
#include "xfer/lib/internal.h"

/* `length` bytes from `offset` on are in a memory of `most` bytes. */
static bool is_inside(uint64_t most, uint64_t offset, uint64_t length)
{
	return offset <= most && length <= most - offset;
}

static int range_check(const char *what, uint64_t most, uint64_t offset, uint64_t length)
{
	if (is_inside(most, offset, length))
		return 0;
	return hp3x_error_set(-EINVAL, "%llu bytes at offset %llu are not inside the %s of %llu",
		(unsigned long long)length, (unsigned long long)offset, what,
		(unsigned long long)most);
}

/* The core checks whose the remote region is. */
static int parts_check(const struct hp3x_peer *peer, const struct hp3x_region *region,
	uint32_t counter, uint32_t add)
{
	if (add != 0 && counter >= HP3X_COUNTERS)
		return hp3x_error_set(
			-EINVAL, "counter %u: counters are 0 to %u", counter, HP3X_COUNTERS - 1);
	if (region != NULL && region->domain != peer->domain)
		return hp3x_error_set(
			-EINVAL, "the region is of another domain than the peer: register it here");
	return 0;
}

/* An op with the lock; NULL: no more. */
static struct hp3x_op *op_begin(
	struct hp3x_peer *peer, const struct hp3x_common *common, const struct hp3x_region *region)
{
	struct hp3x_domain *d = peer->domain;
	struct hp3x_op *op;

	hp3x_lock(d);
	op = STAILQ_FIRST(&d->free);
	if (op == NULL) {
		hp3x_unlock(d);
		return NULL;
	}
	STAILQ_REMOVE_HEAD(&d->free, next);
	op->done = common->done;
	op->region = (struct hp3x_region *)region;
	op->completion.context = common->context;
	op->completion.peer = peer;
	if (op->region != NULL)
		op->region->ops++;
	return op;
}

static int too_many(void)
{
	return hp3x_error_set(-EAGAIN,
		"%u ops have not ended, or their completions wait: call hp3x_poll() first",
		HP3X_OPS);
}

static void op_free(struct hp3x_domain *d, struct hp3x_op *op)
{
	if (op->region != NULL)
		op->region->ops--;
	op->region = NULL;
	STAILQ_INSERT_HEAD(&d->free, op, next);
}

static int64_t submission_error(int64_t error)
{
	switch (error) {
	case -EAGAIN:
		return too_many();
	case -ESTALE:
		return hp3x_error_set(
			-ESTALE, "the descriptor is not of this peer: get a new one from the peer");
	case -ENOTCONN:
		return hp3x_error_set(
			-ENOTCONN, "the peer is gone: close it, and connect to it again");
	default:
		return hp3x_error_set((int)error,
			"the op has an offset, length, number of pages or counter out of range");
	}
}

/* The core has taken the op, or `number` is an error. Releases the lock. */
static int64_t op_submitted(
	struct hp3x_peer *peer, struct hp3x_op *op, int64_t number, uint64_t now)
{
	struct hp3x_domain *d = peer->domain;

	if (number < 0)
		op_free(d, op);
	hp3x_acts(d, now);
	hp3x_drive_wake(d);
	hp3x_unlock(d);
	return number < 0 ? submission_error(number) : number;
}

static uint64_t now_ns(void)
{
	return hp3_clock_ns(CLOCK_MONOTONIC);
}

int64_t hp3x_write(struct hp3x_peer *peer, const struct hp3x_write *write)
{
	struct hp3x_write w = *write;
	struct hp3x_op *op;
	uint64_t now;
	int error = parts_check(peer, w.from, w.counter, w.add);

	if (error == 0 && w.length > 0 && (w.from == NULL || w.to == NULL))
		error = hp3x_error_set(-EINVAL, "a write with data needs `from` and `to`");
	if (error == 0 && w.from != NULL)
		error = range_check("region", w.from->length, w.from_offset, w.length);
	if (error == 0 && w.to != NULL)
		error = range_check("remote region", w.to->length, w.to_offset, w.length);
	if (error < 0)
		return error;
	op = op_begin(peer, &w.common, w.from);
	if (op == NULL)
		return too_many();
	w.common.context = op;
	now = now_ns();
	return op_submitted(
		peer, op, hp3x_core_write(peer->domain->core, now, peer->index, &w), now);
}

int64_t hp3x_write_pages(struct hp3x_peer *peer, const struct hp3x_pages *pages)
{
	struct hp3x_pages w = *pages;
	struct hp3x_op *op;
	uint64_t now;
	int error = parts_check(peer, w.from, w.counter, w.add);

	if (error == 0 && (w.from == NULL || w.to == NULL || w.page == NULL))
		error = hp3x_error_set(-EINVAL, "pages need `from`, `to` and `page`");
	if (error == 0 && (w.n_pages == 0 || w.n_pages > HP3X_MOST_PAGES))
		error = hp3x_error_set(
			-EINVAL, "%u pages: an op has 1 to %u", w.n_pages, HP3X_MOST_PAGES);
	for (uint32_t i = 0; i < w.n_pages && error == 0; i++) {
		const struct hp3x_page *p = &w.page[i];

		error = range_check("region", w.from->length, p->from_offset, p->length);
		if (error == 0)
			error = range_check("remote region", w.to->length, p->to_offset, p->length);
	}
	if (error < 0)
		return error;
	op = op_begin(peer, &w.common, w.from);
	if (op == NULL)
		return too_many();
	w.common.context = op;
	now = now_ns();
	return op_submitted(
		peer, op, hp3x_core_write_pages(peer->domain->core, now, peer->index, &w), now);
}

int64_t hp3x_read(struct hp3x_peer *peer, const struct hp3x_read *read)
{
	struct hp3x_read r = *read;
	struct hp3x_op *op;
	uint64_t now;
	int error = parts_check(peer, r.to, r.counter, r.add);

	if (error == 0 && (r.to == NULL || r.from == NULL))
		error = hp3x_error_set(-EINVAL, "a read needs `to` and `from`");
	if (error == 0)
		error = range_check("region", r.to->length, r.to_offset, r.length);
	if (error == 0)
		error = range_check("remote region", r.from->length, r.from_offset, r.length);
	if (error < 0)
		return error;
	op = op_begin(peer, &r.common, r.to);
	if (op == NULL)
		return too_many();
	r.common.context = op;
	now = now_ns();
	return op_submitted(
		peer, op, hp3x_core_read(peer->domain->core, now, peer->index, &r), now);
}

int64_t hp3x_send(
	struct hp3x_peer *peer, const void *data, size_t length, const struct hp3x_common *common)
{
	struct hp3x_common c = common == NULL ? (struct hp3x_common){0} : *common;
	struct hp3x_op *op;
	uint64_t now;

	if (length > HP3X_MOST_SEND)
		return hp3x_error_set(-EMSGSIZE,
			"a message of %zu bytes: use hp3x_write() for more than %u", length,
			HP3X_MOST_SEND);
	op = op_begin(peer, &c, NULL);
	if (op == NULL)
		return too_many();
	c.context = op;
	now = now_ns();
	return op_submitted(peer, op,
		hp3x_core_send(peer->domain->core, now, peer->index, data, length, &c), now);
}

int hp3x_cancel(struct hp3x_domain *d, int64_t op)
{
	uint64_t now = now_ns();
	int error;

	hp3x_lock(d);
	error = hp3x_core_cancel(d->core, now, op);
	hp3x_acts(d, now);
	hp3x_drive_wake(d);
	hp3x_unlock(d);
	if (error < 0)
		return hp3x_error_set(error, "op %lld has ended, or never was", (long long)op);
	return 0;
}

void hp3x_op_ended(struct hp3x_domain *d, const struct hp3x_completion *ended)
{
	struct hp3x_op *op = ended->context;
	void *context = op->completion.context;
	struct hp3x_peer *peer = op->completion.peer;

	op->completion = *ended;
	op->completion.context = context;
	op->completion.peer = peer->closing ? NULL : peer;
	if (op->region != NULL)
		op->region->ops--;
	op->region = NULL;
	if (op->done != NULL) {
		STAILQ_INSERT_TAIL(&d->calls, op, next);
		return;
	}
	STAILQ_INSERT_TAIL(&d->ended, op, next);
	hp3x_drive_news(d);
}

int hp3x_poll(struct hp3x_domain *d, struct hp3x_completion *completion, int n)
{
	struct hp3x_op *op;
	int i = 0;

	hp3x_lock(d);
	for (; i < n && (op = STAILQ_FIRST(&d->ended)) != NULL; i++) {
		completion[i] = op->completion;
		STAILQ_REMOVE_HEAD(&d->ended, next);
		op_free(d, op);
	}
	hp3x_unlock(d);
	return i;
}
