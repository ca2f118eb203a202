/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/watch.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include "app/watch/internal.h"

#define EVENTS_PER_WAIT 32

static int read_gid(
	void *ctx, const char *device, unsigned port, unsigned index, struct hp3_gid *out)
{
	const struct hp3_watch *w = ctx;

	return hp3_gid_read(w->o.sysfs != NULL ? w->o.sysfs : "/sys", device, port, index, out);
}

static void pass_event(void *ctx, const struct hp3_watch_event *event)
{
	struct hp3_watch *w = ctx;

	w->o.event(w->o.ctx, event);
}

/* 0: a watcher runs, or none is required. */
static int open_watcher(struct hp3_watch *w)
{
	uint8_t verbs = w->o.verbs;
	int err = 0;

	if (verbs == HP3_WATCH_OFF)
		return 0;
	if (verbs != HP3_WATCH_LIBRARY)
		err = hp3_watch_kernel_open(w);
	if (verbs == HP3_WATCH_LIBRARY || (verbs == HP3_WATCH_AUTO && err < 0))
		err = hp3_watch_library_open(w);
	if (w->library != NULL) {
		err = hp3_processes_open(w);
		if (err == 0 && w->o.discover)
			err = hp3_unseen_open(w);
		if (err < 0)
			return err;
	}
	if (w->ring != NULL)
		return hp3_watch_add_fd(w, ring_buffer__epoll_fd(w->ring), HP3_TAG_RING, 0);
	return verbs == HP3_WATCH_AUTO ? 0 : err;
}

int hp3_watch_open(const struct hp3_watch_options *o, struct hp3_watch **out)
{
	struct hp3_watch *w = calloc(1, sizeof(*w));
	struct hp3_qps_hooks hooks = {.gid = read_gid, .event = pass_event, .ctx = w};
	int err = -ENOMEM;

	if (w == NULL)
		return err;
	w->o = *o;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0) {
		err = -errno;
		goto failed;
	}
	libbpf_set_print(NULL); /* a notice reports errors, once */
	err = open_watcher(w);
	if (err < 0)
		goto failed;
	hooks.by_process = w->library != NULL;
	if (getrandom(&hooks.seed, sizeof(hooks.seed), 0) == sizeof(hooks.seed))
		w->qps = hp3_qps_create(&hooks);
	if (w->qps == NULL) {
		err = -ENOMEM;
		goto failed;
	}
	*out = w;
	return 0;
failed:
	hp3_watch_close(w);
	return err;
}

void hp3_watch_close(struct hp3_watch *w)
{
	if (w == NULL)
		return;
	ring_buffer__free(w->ring);
	hp3_watch_kernel_close(w);
	hp3_watch_library_close(w->library);
	hp3_unseen_close(w->unseen);
	hp3_processes_close(w->processes);
	hp3_qps_free(w->qps);
	if (w->epoll >= 0)
		close(w->epoll);
	free(w);
}

enum hp3_watch_by hp3_watch_by(const struct hp3_watch *w)
{
	return w->kernel != NULL    ? HP3_BY_KERNEL
	       : w->library != NULL ? HP3_BY_LIBRARY
				    : HP3_BY_NONE;
}

int hp3_watch_fd(const struct hp3_watch *w)
{
	return w->ring != NULL ? w->epoll : -1;
}

static void check_lost(struct hp3_watch *w)
{
	uint64_t lost = *w->lost_records;

	if (lost != w->lost)
		hp3_watch_notice(&w->o,
			"%llu verbs calls came too fast to be kept: their queue pairs are paired "
			"by what is on the wire",
			(unsigned long long)(lost - w->lost));
	w->lost = lost;
}

void hp3_watch_poll(struct hp3_watch *w)
{
	struct epoll_event event[EVENTS_PER_WAIT];
	int n;

	if (w->ring == NULL)
		return;
	n = epoll_wait(w->epoll, event, EVENTS_PER_WAIT, 0);
	/*
	 * Handles calls before the end of their process: reads the ring after the wait, before
	 * other events.
	 */
	ring_buffer__consume(w->ring);
	for (int i = 0; i < n; i++) {
		switch ((enum hp3_watch_tag)(event[i].data.u64 >> 32)) {
		case HP3_TAG_RING:
			break;
		case HP3_TAG_PROCESS:
			hp3_processes_ended(w, (uint32_t)event[i].data.u64);
			break;
		case HP3_TAG_DEVICES:
			hp3_unseen_opened(w);
			break;
		case HP3_TAG_SCAN:
			hp3_unseen_scan(w);
			break;
		}
	}
	if (w->library != NULL)
		hp3_processes_settle(w);
	check_lost(w);
}
