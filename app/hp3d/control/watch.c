/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/watch.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/watch/watcher.h"
#include "config/bonds.h"

static struct {
	const struct hp3_config *cfg;
	struct hp3_watcher *watcher; /* NULL: none */
	struct hp3d_watch_stats stats;
} watching;

/* The metrics' thread reads these. */
static uint64_t count_qp(uint64_t *n)
{
	return __atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

struct handed {
	const struct hp3_qp_event *qp;
	unsigned rail;
	int ret;
};

static void hand_to_pipe(struct hp3d_worker *w, void *arg)
{
	struct handed *h = arg;

	h->ret = hp3d_pipe_qp(hp3d_worker_pipe(w, h->rail), h->qp, hp3d_now());
}

/* The rail that names the device; otherwise, the only rail that names no device. -1: no such
 * rail. */
static int rail_of_device(const char *device)
{
	const struct hp3_config *cfg = watching.cfg;
	int open = -1;
	unsigned n = 0;

	for (unsigned i = 0; i < cfg->n_rails; i++) {
		if (strcmp(cfg->rails[i].rdma, device) == 0)
			return (int)i;
		/* one RDMA device may have all rails of a bond */
		if (cfg->rails[i].rdma[0] == '\0' && hp3_config_is_lead(cfg, i)) {
			open = (int)i;
			n++;
		}
	}
	return n == 1 ? open : -1;
}

static void on_event(void *ctx, const struct hp3_watch_event *event)
{
	struct hp3_qp_event qp = event->qp;
	int rail = rail_of_device(event->device);
	struct handed h = {.qp = &qp, .rail = (unsigned)rail};
	struct hp3d_worker *w;

	if (rail < 0) {
		if (count_qp(&watching.stats.no_rail) == 0)
			fprintf(stderr,
				"hp3d: queue pairs of RDMA device %s belong to no rail: set rdma = "
				"\"%s\" in the [rail.NAME] that carries its packets\n",
				event->device, event->device);
		return;
	}
	qp.source = hp3_watcher_by(watching.watcher) == HP3_BY_KERNEL ? HP3_QP_SOURCE_KERNEL
								      : HP3_QP_SOURCE_LIBRARY;
	qp.owner = event->pid;
	w = hp3d_worker(hp3d_worker_of(h.rail, qp.ipv6, qp.local, qp.remote));
	if (hp3d_worker_call(w, hand_to_pipe, &h) < 0 || h.ret < 0)
		count_qp(&watching.stats.refused);
	else if (qp.kind == HP3_QP_UP)
		count_qp(&watching.stats.up);
	else
		count_qp(&watching.stats.down);
}

static void on_notice(void *ctx, const char *text)
{
	fprintf(stderr, "hp3d: %s\n", text);
}

static int cannot_be_had(const struct hp3_config *cfg)
{
	if (cfg->watch.verbs == HP3_WATCH_AUTO)
		return 0;
	fprintf(stderr, "hp3d: [watch] verbs: cannot be had: set it to auto, or to off\n");
	return -1;
}

int hp3d_watch_begin(const struct hp3_config *cfg)
{
	struct hp3_watch_options o = {.verbs = (uint8_t)cfg->watch.verbs,
		.libraries = cfg->watch.libraries,
		.discover = cfg->watch.discover,
		.event = on_event,
		.notice = on_notice};

	watching.cfg = cfg;
	watching.stats = (struct hp3d_watch_stats){0};
	if (cfg->watch.verbs == HP3_WATCH_OFF || hp3_watcher_start(&o, &watching.watcher) == 0)
		return 0;
	return cannot_be_had(cfg);
}

int hp3d_watch_start(void)
{
	int ret;

	if (watching.cfg->watch.verbs == HP3_WATCH_OFF)
		return 0;
	ret = watching.watcher != NULL ? hp3_watcher_wait(watching.watcher) : -ENOENT;
	if (ret == -ENOENT && cannot_be_had(watching.cfg) < 0)
		return -1;
	fprintf(stderr, "hp3d: queue-pair setup is watched by: %s\n",
		ret == 0            ? hp3d_watch_name()
		: ret == -ETIMEDOUT ? "nobody yet: the watcher is still starting"
				    : "connection management on the wire");
	return 0;
}

void hp3d_watch_stop(void)
{
	hp3_watcher_stop(watching.watcher);
	watching.watcher = NULL;
}

int hp3d_watch_fd(void)
{
	return watching.watcher != NULL ? hp3_watcher_fd(watching.watcher) : -1;
}

void hp3d_watch_poll(void)
{
	hp3_watcher_poll(watching.watcher);
}

const char *hp3d_watch_name(void)
{
	return hp3_watch_by_name(
		watching.watcher != NULL ? hp3_watcher_by(watching.watcher) : HP3_BY_NONE);
}

struct hp3d_watch_stats hp3d_watch_stats(void)
{
	const struct hp3d_watch_stats *of = &watching.stats;
	struct hp3d_watch_stats s = {.up = __atomic_load_n(&of->up, __ATOMIC_RELAXED),
		.down = __atomic_load_n(&of->down, __ATOMIC_RELAXED),
		.refused = __atomic_load_n(&of->refused, __ATOMIC_RELAXED),
		.no_rail = __atomic_load_n(&of->no_rail, __ATOMIC_RELAXED)};

	if (watching.watcher != NULL)
		s.ends = hp3_watcher_ends(watching.watcher);
	return s;
}
