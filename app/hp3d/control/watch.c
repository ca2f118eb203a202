/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/watch.h"
#include <stdio.h>
#include <string.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/watch/watch.h"

static struct {
	const struct hp3_config *cfg;
	struct hp3_watch *watch; /* NULL: not started */
	struct hp3d_watch_stats stats;
} watching;

struct handed {
	const struct hp3_qp_event *qp;
	unsigned rail;
	int ret;
};

static void hand(struct hp3d_worker *w, void *arg)
{
	struct handed *h = arg;

	h->ret = hp3d_pipe_qp(hp3d_worker_pipe(w, h->rail), h->qp, hp3d_now());
}

/* The rail that names the device, else the only one that names none. -1: no rail is meant. */
static int rail_of(const char *device)
{
	const struct hp3_config *cfg = watching.cfg;
	int open = -1;
	unsigned n = 0;

	for (unsigned i = 0; i < cfg->n_rails; i++) {
		if (strcmp(cfg->rails[i].rdma, device) == 0)
			return (int)i;
		if (cfg->rails[i].rdma[0] == '\0') {
			open = (int)i;
			n++;
		}
	}
	return n == 1 ? open : -1;
}

static void on_event(void *ctx, const struct hp3_watch_event *ev)
{
	struct hp3_qp_event qp = ev->qp;
	int rail = rail_of(ev->device);
	struct handed h = {.qp = &qp, .rail = (unsigned)rail};
	struct hp3d_worker *w;

	if (rail < 0) {
		if (watching.stats.no_rail++ == 0)
			fprintf(stderr,
				"hp3d: queue pairs of RDMA device %s belong to no rail: set rdma = "
				"\"%s\" in the [rail.NAME] that carries its packets\n",
				ev->device, ev->device);
		return;
	}
	qp.pairing = HP3_PAIRING_EVENT;
	w = hp3d_worker(hp3d_worker_of(h.rail, qp.ipv6, qp.local, qp.remote));
	if (hp3d_worker_call(w, hand, &h) < 0 || h.ret < 0)
		watching.stats.refused++;
	else if (qp.kind == HP3_QP_UP)
		watching.stats.up++;
	else
		watching.stats.down++;
}

static void on_notice(void *ctx, const char *text)
{
	fprintf(stderr, "hp3d: %s\n", text);
}

int hp3d_watch_start(const struct hp3_config *cfg)
{
	struct hp3_watch_options o = {.verbs = (uint8_t)cfg->watch.verbs,
		.libraries = cfg->watch.libraries,
		.discover = cfg->watch.discover,
		.event = on_event,
		.notice = on_notice};
	int ret;

	watching.cfg = cfg;
	watching.stats = (struct hp3d_watch_stats){0};
	ret = hp3_watch_open(&o, &watching.watch);
	if (ret < 0) {
		fprintf(stderr,
			"hp3d: [watch] verbs: cannot be had (%s): set it to auto, or to off\n",
			strerror(-ret));
		return -1;
	}
	if (cfg->watch.verbs != HP3_WATCH_OFF)
		fprintf(stderr, "hp3d: queue-pair setup is watched by: %s\n",
			hp3_watch_fd(watching.watch) >= 0 ? hp3_watch_name(watching.watch)
							  : "connection management on the wire");
	return 0;
}

void hp3d_watch_stop(void)
{
	hp3_watch_close(watching.watch);
	watching.watch = NULL;
}

int hp3d_watch_fd(void)
{
	return watching.watch != NULL ? hp3_watch_fd(watching.watch) : -1;
}

void hp3d_watch_poll(void)
{
	hp3_watch_poll(watching.watch);
}

const char *hp3d_watch_name(void)
{
	return watching.watch != NULL ? hp3_watch_name(watching.watch) : "none";
}

struct hp3d_watch_stats hp3d_watch_stats(void)
{
	return watching.stats;
}
