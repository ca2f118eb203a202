/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens becomes input of the core: events of epoll and of the provider, and time. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "app/clock.h"
#include "xfer/lib/internal.h"

#define EVENTS 64
#define ROUNDS 16 /* of events, before callers and control channels have their turn */

int hp3x_watch(struct hp3x_domain *d, struct hp3x_source *source, uint32_t events, bool again)
{
	struct epoll_event e = {.events = events, .data.ptr = source};

	if (epoll_ctl(d->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, source->fd, &e) == 0)
		return 0;
	/* A connection that a guest began. */
	if (again && errno == ENOENT)
		return hp3x_watch(d, source, events, false);
	return hp3x_error_set(-errno, "epoll: %m");
}

static void signal_write(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

void hp3x_drive_news(struct hp3x_domain *d)
{
	signal_write(d->news);
}

uint64_t hp3x_drive_wait(const struct hp3x_domain *d)
{
	uint64_t due = hp3x_core_due(d->core), now = hp3_clock_ns(CLOCK_MONOTONIC);

	if (d->channels_due < due)
		due = d->channels_due;
	if (!STAILQ_EMPTY(&d->calls) || due <= now)
		return 0;
	return due == UINT64_MAX ? INT64_MAX : due - now;
}

void hp3x_drive_wake(struct hp3x_domain *d)
{
	uint64_t due = hp3x_core_due(d->core);

	if (d->channels_due < due)
		due = d->channels_due;
	if (!STAILQ_EMPTY(&d->calls) || due < d->sleeps_until)
		signal_write(d->kick.fd);
}

static void event_take(struct hp3x_domain *d, uint64_t now, const struct hp3x_event *e)
{
	switch ((enum hp3x_event_kind)e->kind) {
	case HP3X_EVENT_CONNECTED:
		hp3x_core_connected(d->core, now, e->peer, e->path, e->success);
		break;
	case HP3X_EVENT_COMPLETED:
		hp3x_core_completed(d->core, now, e->token, e->result);
		break;
	case HP3X_EVENT_ARRIVED:
		hp3x_core_arrived(d->core, now, e->peer, e->path, e->imm);
		break;
	case HP3X_EVENT_FAILED:
		hp3x_core_path_failed(d->core, now, e->peer, e->path);
		break;
	case HP3X_EVENT_SHUT:
		d->peer[e->peer]->endpoint[e->path] = NULL;
		hp3x_core_shut(d->core, now, e->peer, e->path);
		break;
	case HP3X_EVENT_RAIL:
		hp3x_core_rail(d->core, now, e->rail, e->success);
		break;
	}
	hp3x_acts(d, now);
}

void hp3x_drive_provider(struct hp3x_domain *d)
{
	struct hp3x_event event[EVENTS];

	for (int round = 0; round < ROUNDS; round++) {
		int n = d->provider->rails_poll(d->rails, event, EVENTS);
		uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

		for (int i = 0; i < n; i++)
			event_take(d, now, &event[i]);
		if (n == 0)
			return;
	}
}

static void source_work(struct hp3x_domain *d, struct hp3x_source *source, uint32_t events)
{
	uint64_t n;

	switch (source->kind) {
	case HP3X_SOURCE_LISTENER:
		hp3x_control_accept(d);
		break;
	case HP3X_SOURCE_GUEST:
		hp3x_guest_ready(d, (struct hp3x_guest *)source);
		break;
	case HP3X_SOURCE_CHANNEL:
		if (source->fd >= 0)
			hp3x_channel_ready(
				(struct hp3x_peer *)((char *)source -
						     offsetof(struct hp3x_peer, channel.source)),
				events);
		break;
	case HP3X_SOURCE_KICK:
		if (read(source->fd, &n, sizeof(n)) < 0)
			break; /* it was read before */
		break;
	case HP3X_SOURCE_PROVIDER:
		break; /* hp3x_drive_provider() */
	}
}

static void peers_free(struct hp3x_domain *d)
{
	struct hp3x_peer *p, *next;

	for (p = LIST_FIRST(&d->peers); p != NULL && d->n_closing > 0; p = next) {
		next = LIST_NEXT(p, next);
		if (p->closing)
			hp3x_peer_free(p);
	}
}

void hp3x_drive(struct hp3x_domain *d)
{
	struct epoll_event ready[32];
	int n = epoll_wait(d->epoll, ready, 32, 0);
	uint64_t now;

	for (int i = 0; i < n; i++)
		source_work(d, ready[i].data.ptr, ready[i].events);
	hp3x_drive_provider(d);
	now = hp3_clock_ns(CLOCK_MONOTONIC);
	if (hp3x_core_due(d->core) <= now) {
		hp3x_core_tick(d->core, now);
		hp3x_acts(d, now);
	}
	if (d->channels_due <= now)
		hp3x_channels_tick(d, now);
	if (d->n_closing > 0) {
		hp3x_drive_provider(d);
		peers_free(d);
	}
}

void hp3x_drive_calls(struct hp3x_domain *d)
{
	struct hp3x_op *op;

	for (;;) {
		struct hp3x_completion completion;
		hp3x_done_fn *done;

		hp3x_lock(d);
		op = STAILQ_FIRST(&d->calls);
		if (op != NULL) {
			completion = op->completion;
			done = op->done;
			STAILQ_REMOVE_HEAD(&d->calls, next);
			STAILQ_INSERT_HEAD(&d->free, op, next);
		}
		hp3x_unlock(d);
		if (op == NULL)
			return;
		done(&completion);
	}
}

/* Rounded up: a domain that wakes too early would do so again and again. */
static int poll_ms(uint64_t wait)
{
	return wait > 60000000000u ? 60000 : (int)((wait + 999999) / 1000000);
}

void *hp3x_drive_thread(void *domain)
{
	struct hp3x_domain *d = domain;
	struct pollfd p = {.fd = d->epoll, .events = POLLIN};

	for (;;) {
		bool calls, stop;
		uint64_t wait;

		hp3x_lock(d);
		d->sleeps_until = 0;
		hp3x_drive(d);
		calls = !STAILQ_EMPTY(&d->calls);
		wait = hp3x_drive_wait(d);
		d->sleeps_until = hp3_clock_ns(CLOCK_MONOTONIC) + wait;
		stop = d->stop;
		hp3x_unlock(d);
		if (stop)
			return NULL;
		if (calls)
			hp3x_drive_calls(d);
		else
			poll(&p, 1, poll_ms(wait));
	}
}

int64_t hp3x_progress(struct hp3x_domain *d)
{
	uint64_t wait;
	bool calls;

	if (!d->own_progress)
		return hp3x_error_set(-EINVAL,
			"the domain has a thread: set own_progress to call hp3x_progress()");
	hp3x_lock(d);
	hp3x_drive(d);
	calls = !STAILQ_EMPTY(&d->calls);
	hp3x_unlock(d);
	if (calls)
		hp3x_drive_calls(d);
	hp3x_lock(d);
	wait = hp3x_drive_wait(d);
	d->sleeps_until = hp3_clock_ns(CLOCK_MONOTONIC) + wait;
	hp3x_unlock(d);
	return (int64_t)wait;
}

int hp3x_fd(const struct hp3x_domain *d)
{
	return d->own_progress ? d->epoll : d->news;
}
