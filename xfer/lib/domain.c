/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain opens and closes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include "app/clock.h"
#include "base/minmax.h"
#include "xfer/lib/internal.h"

/* The first one that finds rails is the default. A new provider needs a line here. */
static const struct hp3x_provider *const providers[] = {&hp3x_verbs, &hp3x_tcp};

#define N_PROVIDERS (sizeof(providers) / sizeof(providers[0]))

static int rails_open(struct hp3x_domain *d, const struct hp3x_options *o)
{
	int error = -ENODEV;

	for (size_t i = 0; i < N_PROVIDERS && error == -ENODEV; i++) {
		if (o->provider != NULL && strcmp(o->provider, providers[i]->name) != 0)
			continue;
		d->provider = providers[i];
		error = d->provider->rails_open(o->rails, o->n_rails, &d->rails);
		if (error < 0 && o->provider != NULL)
			return error;
	}
	if (d->provider == NULL)
		return hp3x_error_set(
			-ENODEV, "provider %s is not in this build: use \"tcp\"", o->provider);
	if (error < 0)
		return error;
	if (o->provider == NULL && d->provider == &hp3x_tcp)
		fprintf(stderr, "libhp3x: uses TCP: no RNIC port that it can use is active\n");
	d->n_rails = d->provider->rails_list(d->rails, d->rail);
	return 0;
}

static int options_check(const struct hp3x_options *o)
{
	if (o->paths_per_rail > 8)
		return hp3x_error_set(
			-EINVAL, "paths_per_rail is %u: use 1 to 8", o->paths_per_rail);
	if (o->n_rails > HP3X_RAILS)
		return hp3x_error_set(-EINVAL, "%u rails: name at most %u", o->n_rails, HP3X_RAILS);
	if (o->slice_bytes != 0 && (o->slice_bytes < 4096 || o->slice_bytes > 1u << 30))
		return hp3x_error_set(
			-EINVAL, "slice_bytes is %u: use 4096 to 1073741824", o->slice_bytes);
	return 0;
}

static uint64_t random_word(void)
{
	uint64_t word;

	if (getrandom(&word, sizeof(word), 0) != sizeof(word) || word == 0)
		word = hp3_clock_ns(CLOCK_MONOTONIC);
	return word;
}

static int core_open(struct hp3x_domain *d, const struct hp3x_options *o)
{
	struct hp3x_core_config *c = &d->config;
	uint64_t timeout = o->peer_timeout_ms != 0 ? o->peer_timeout_ms : 10000;
	void *memory;
	size_t size;

	hp3x_core_defaults(c);
	c->identity = random_word();
	c->seed = o->seed != 0 ? o->seed : random_word();
	c->peers = HP3X_PEERS;
	c->ops = HP3X_OPS;
	c->slices = HP3X_POSTS;
	c->rails = d->n_rails;
	for (uint32_t i = 0; i < d->n_rails; i++)
		c->rail_rate[i] = d->rail[i].rate;
	if (o->paths_per_rail != 0)
		c->paths_per_rail = o->paths_per_rail;
	if (o->slice_bytes != 0)
		c->slice_bytes = o->slice_bytes;
	c->peer_timeout_ns = timeout * 1000000;
	if (o->hang_ms != 0)
		c->hang_ns = (uint64_t)o->hang_ms * 1000000;
	c->hang_least_ns = o->hang_min_ms != 0 ? (uint64_t)o->hang_min_ms * 1000000 : c->hang_ns;
	if (c->hang_least_ns > c->hang_ns)
		return hp3x_error_set(-EINVAL,
			"hang_min_ms is %u, but hang_ms is %u: set hang_min_ms to at most hang_ms",
			o->hang_min_ms, (unsigned)(c->hang_ns / 1000000));
	if (d->provider->rails_hang != NULL)
		d->provider->rails_hang(d->rails, c->hang_ns);
	if (c->keepalive_ns > c->peer_timeout_ns / 4)
		c->keepalive_ns = c->peer_timeout_ns / 4;
	size = hp3x_core_size(c);
	if (size == 0)
		return hp3x_error_set(-EINVAL,
			"the options do not fit together: paths_per_rail, slice_bytes or "
			"peer_timeout_ms is out of range");
	memory = aligned_alloc(64, (size + 63) / 64 * 64);
	d->op = calloc(HP3X_OPS, sizeof(*d->op));
	if (memory == NULL || d->op == NULL) {
		free(memory);
		return hp3x_error_set(
			-ENOMEM, "no memory for a domain: it needs %zu MiB", size >> 20);
	}
	for (uint32_t i = 0; i < HP3X_OPS; i++)
		STAILQ_INSERT_TAIL(&d->free, &d->op[i], next);
	d->core = hp3x_core_create(c, memory, hp3_clock_ns(CLOCK_MONOTONIC));
	return 0;
}

static int sources_open(struct hp3x_domain *d)
{
	int error;

	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->news = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	d->kick = (struct hp3x_source){HP3X_SOURCE_KICK, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	if (d->epoll < 0 || d->news < 0 || d->kick.fd < 0)
		return hp3x_error_set(
			-errno, "too many open files: raise the limit with ulimit -n");
	d->provided = (struct hp3x_source){HP3X_SOURCE_PROVIDER, d->provider->rails_fd(d->rails)};
	error = hp3x_watch(d, &d->kick, EPOLLIN, false);
	return error < 0 ? error : hp3x_watch(d, &d->provided, EPOLLIN, false);
}

/* The thread takes no signals of the program. */
static int thread_begin(struct hp3x_domain *d)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&d->thread, NULL, hp3x_drive_thread, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0)
		return hp3x_error_set(-error, "no thread for the domain: %s", strerror(error));
	d->has_thread = true;
	return 0;
}

static struct hp3x_domain *domain_new(void)
{
	struct hp3x_domain *d = calloc(1, sizeof(*d));
	pthread_condattr_t monotonic;

	if (d == NULL)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->turn, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&d->counted, &monotonic);
	pthread_condattr_destroy(&monotonic);
	LIST_INIT(&d->regions);
	LIST_INIT(&d->peers);
	SLIST_INIT(&d->flush);
	STAILQ_INIT(&d->waiting);
	STAILQ_INIT(&d->letters);
	STAILQ_INIT(&d->free);
	STAILQ_INIT(&d->ended);
	STAILQ_INIT(&d->calls);
	d->epoll = d->news = d->kick.fd = d->listener.fd = -1;
	d->channels_due = UINT64_MAX;
	for (uint32_t i = 0; i < HP3X_GUESTS; i++)
		d->guest[i].source.fd = -1;
	return d;
}

int hp3x_open(const struct hp3x_options *options, struct hp3x_domain **domain)
{
	struct hp3x_options o = options == NULL ? (struct hp3x_options){0} : *options;
	int error = options_check(&o);
	struct hp3x_domain *d;

	if (error < 0)
		return error;
	d = domain_new();
	if (d == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for a domain");
	d->own_progress = o.own_progress;
	error = rails_open(d, &o);
	if (error == 0)
		error = core_open(d, &o);
	if (error == 0)
		error = sources_open(d);
	if (error == 0)
		error = hp3x_control_listen(d, o.listen);
	if (error == 0 && !d->own_progress)
		error = thread_begin(d);
	if (error < 0) {
		hp3x_close(d);
		return error;
	}
	*domain = d;
	return 0;
}

/* All ops end, all paths are shut; peers learn of it, if they answer within a second. */
static void peers_close(struct hp3x_domain *d)
{
	uint64_t until = hp3_clock_ms() + HP3X_FENCE_MS;
	struct hp3x_peer *p, *next;

	for (p = LIST_FIRST(&d->peers); p != NULL; p = next) {
		next = LIST_NEXT(p, next);
		if (!p->closing)
			hp3x_peer_close(p);
	}
	while ((!LIST_EMPTY(&d->peers) || hp3x_guests_leave(d)) && hp3_clock_ms() < until) {
		struct pollfd fd = {.fd = d->epoll, .events = POLLIN};

		hp3x_lock(d);
		hp3x_drive(d);
		hp3x_unlock(d);
		poll(&fd, 1, 10);
	}
	hp3x_drive_calls(d);
}

static void memory_free(struct hp3x_domain *d)
{
	struct hp3x_region *r;

	while ((r = LIST_FIRST(&d->regions)) != NULL) {
		LIST_REMOVE(r, next);
		d->provider->memory_remove(d->rails, r->memory);
		free(r);
	}
	if (d->rails != NULL)
		d->provider->rails_close(d->rails);
	free(d->core);
	free(d->op);
}

void hp3x_close(struct hp3x_domain *d)
{
	int fd[] = {d->listener.fd, d->kick.fd, d->news, d->epoll};

	if (d->has_thread) {
		uint64_t one = 1;

		hp3x_lock(d);
		d->stop = true;
		hp3x_unlock(d);
		if (write(d->kick.fd, &one, sizeof(one)) > 0)
			pthread_join(d->thread, NULL);
	}
	if (d->core != NULL)
		peers_close(d);
	memory_free(d);
	for (uint32_t i = 0; i < HP3X_GUESTS; i++)
		hp3x_guest_close(&d->guest[i]);
	for (uint32_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		if (fd[i] >= 0)
			close(fd[i]);
	pthread_cond_destroy(&d->counted);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->turn);
	free(d);
}

const char *hp3x_address(const struct hp3x_domain *d)
{
	return d->address;
}

const char *hp3x_provider(const struct hp3x_domain *d)
{
	return d->provider->name;
}

const char *hp3x_rail_name(const struct hp3x_domain *d, uint32_t rail)
{
	return rail < d->n_rails ? d->rail[rail].name : NULL;
}
