/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/watch.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#include "app/watch/gid.h"
#include "app/watch/internal.h"
#include "base/plain.h"

#define EVENTS_PER_WAIT 32

void hp3_watch_notice(struct hp3_watch *w, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	w->o.notice(w->o.ctx, hp3_plain(text));
}

const char *hp3_watch_bpf_error(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "no permission for BPF: run as root, or with CAP_BPF, CAP_PERFMON and (for "
		       "uprobes on new kernels) CAP_SYS_ADMIN";
	case -ENOSYS:
		return "the kernel was built without BPF (CONFIG_BPF_SYSCALL)";
	case -ENOENT:
	case -EINVAL:
		return "the kernel lacks a BPF feature: it needs Linux 5.8 with uprobes "
		       "(CONFIG_UPROBES, CONFIG_BPF_EVENTS) and type information "
		       "(CONFIG_DEBUG_INFO_BTF)";
	default:
		return strerror(-err);
	}
}

uint64_t hp3_watch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int hp3_watch_add_fd(struct hp3_watch *w, int fd, enum hp3_watch_tag tag, uint32_t value)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = (uint64_t)tag << 32 | value};

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

void hp3_watch_call(struct hp3_watch *w, const struct hp3_verbs_call *c)
{
	int err = hp3_qps_call(w->qps, c);

	if (err < 0 && w->refused++ == 0)
		hp3_watch_notice(w, "queue pairs beyond the first %u are not followed: %s",
			hp3_qps_count(w->qps), strerror(-err));
}

static int read_gid(
	void *ctx, const char *device, unsigned port, unsigned index, struct hp3_gid *out)
{
	const struct hp3_watch *w = ctx;

	return hp3_gid_read(w->o.sysfs != NULL ? w->o.sysfs : "/sys", device, port, index, out);
}

static void pass_event(void *ctx, const struct hp3_watch_event *ev)
{
	struct hp3_watch *w = ctx;

	w->o.event(w->o.ctx, ev);
}

/* 0 with a watcher, or without one if that is allowed. */
static int choose(struct hp3_watch *w)
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
	if (w->epoll < 0)
		err = -errno;
	else
		w->qps = hp3_qps_create(&hooks);
	if (w->qps == NULL)
		goto failed;
	libbpf_set_print(NULL); /* what went wrong is told in our words, once */
	err = choose(w);
	if (err < 0)
		goto failed;
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
	hp3_watch_kernel_close(w->kernel);
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
	uint64_t lost = w->kernel != NULL ? hp3_watch_kernel_lost(w->kernel)
					  : hp3_watch_library_lost(w->library);

	if (lost != w->lost)
		hp3_watch_notice(w,
			"%llu verbs calls came too fast to be kept: their queue pairs are paired "
			"by what is on the wire",
			(unsigned long long)(lost - w->lost));
	w->lost = lost;
}

void hp3_watch_poll(struct hp3_watch *w)
{
	struct epoll_event ev[EVENTS_PER_WAIT];
	int n;

	if (w->ring == NULL)
		return;
	n = epoll_wait(w->epoll, ev, EVENTS_PER_WAIT, 0);
	/* What a process called comes before its end: the ring after the wait, and first. */
	ring_buffer__consume(w->ring);
	for (int i = 0; i < n; i++) {
		switch ((enum hp3_watch_tag)(ev[i].data.u64 >> 32)) {
		case HP3_TAG_RING:
			break;
		case HP3_TAG_PROCESS:
			hp3_processes_ended(w, (uint32_t)ev[i].data.u64);
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
