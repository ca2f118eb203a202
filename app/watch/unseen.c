/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's watcher sees only processes that use a watched copy of the library. With
 * `discover`, the functions here inspect processes shortly after they open an RDMA device. If a
 * process has a new copy of libibverbs (from a container or an application), this copy is watched
 * from then on. A notice names a process without a copy (statically linked), once.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "app/one_line.h"
#include "app/watch/file.h"
#include "app/watch/internal.h"

#define NAMED_MAX    256u
#define SCAN_WAIT_NS 100000000 /* from the opening of a device to the scan */

struct hp3_unseen {
	int inotify, timer;
	char devices[PATH_MAX / 2]; /* /dev/infiniband */
	unsigned n, n_before;
	uint32_t named[NAMED_MAX],
		before[NAMED_MAX]; /* PIDs in notices: of this scan, of the last one */
};

static bool was_named(const struct hp3_unseen *u, uint32_t pid)
{
	for (unsigned i = 0; i < u->n_before; i++) {
		if (u->before[i] == pid)
			return true;
	}
	return false;
}

static void notice_process(struct hp3_watch *w, uint32_t pid, const char *what)
{
	struct hp3_unseen *u = w->unseen;
	char path[64], name[32];

	if (u->n == NAMED_MAX)
		return;
	u->named[u->n++] = pid;
	if (was_named(u, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	hp3_read_line(path, name, sizeof(name));
	hp3_watch_notice(&w->o,
		"process %u (%s) %s: the set-up of its queue pairs is not seen; they are paired by "
		"what is on the wire",
		pid, name, what);
}

/* Does the process have an RDMA device open? */
static bool uses_rdma(const struct hp3_unseen *u, const char *pid)
{
	size_t len = strlen(u->devices);
	char path[PATH_MAX], target[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	if (d == NULL)
		return false;
	while (!found && (e = readdir(d)) != NULL) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		if (n < 0)
			continue;
		target[n] = '\0';
		found = strncmp(target, u->devices, len) == 0 &&
			strncmp(target + len, "/uverbs", 7) == 0;
	}
	closedir(d);
	return found;
}

/* The copy of libibverbs that the process has mapped; false: none. */
static bool find_library(FILE *maps, struct hp3_mapped *m, char *path)
{
	char line[PATH_MAX + 128], *mapped;

	while (fgets(line, sizeof(line), maps) != NULL) {
		if (!hp3_file_maps_line(line, m, &mapped) ||
			strstr(mapped, "/libibverbs.so") == NULL)
			continue;
		snprintf(path, PATH_MAX, "%s", mapped);
		return true;
	}
	return false;
}

static void examine_process(struct hp3_watch *w, uint32_t pid)
{
	char root[64], lib[PATH_MAX], text[PATH_MAX + 64];
	struct hp3_mapped m;
	struct hp3_file f;
	const char *why = "it cannot be read";
	bool found;
	FILE *maps;
	int err;

	snprintf(root, sizeof(root), "/proc/%u/maps", pid);
	maps = fopen(root, "re");
	if (maps == NULL)
		return;
	found = find_library(maps, &m, lib);
	fclose(maps);
	if (!found) {
		notice_process(w, pid, "uses RDMA without libibverbs (statically linked?)");
		return;
	}
	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	err = hp3_file_open_mapped(root, lib, &m, &f, &why);
	if (err == 0) {
		why = "it has no ibv_modify_qp, or no more can be watched";
		err = hp3_watch_library_attach(w, &f);
		hp3_file_close(&f);
	}
	snprintf(text, sizeof(text), "uses a libibverbs that is not watched (%s: %s)", lib, why);
	if (err > 0)
		hp3_watch_notice(&w->o,
			"process %u uses a libibverbs of its own (%s): watched from now on", pid,
			lib);
	else if (err < 0)
		notice_process(w, pid, text);
}

void hp3_unseen_scan(struct hp3_watch *w)
{
	struct hp3_unseen *u = w->unseen;
	struct dirent *e;
	uint64_t expired;
	DIR *d;

	if (read(u->timer, &expired, sizeof(expired)) < 0 && errno != EAGAIN)
		return;
	memcpy(u->before, u->named, sizeof(u->before));
	u->n_before = u->n;
	u->n = 0;
	d = opendir("/proc");
	while (d != NULL && (e = readdir(d)) != NULL) {
		uint32_t pid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (isdigit((unsigned char)e->d_name[0]) && pid != (uint32_t)getpid() &&
			uses_rdma(u, e->d_name))
			examine_process(w, pid);
	}
	if (d != NULL)
		closedir(d);
}

/* The directory exists once there is an RDMA driver. */
static void watch_devices(struct hp3_unseen *u)
{
	inotify_add_watch(u->inotify, u->devices, IN_OPEN | IN_CREATE);
}

void hp3_unseen_opened(struct hp3_watch *w)
{
	struct hp3_unseen *u = w->unseen;
	struct itimerspec soon = {.it_value.tv_nsec = SCAN_WAIT_NS}, set;
	char events[4096];

	while (read(u->inotify, events, sizeof(events)) > 0)
		;
	watch_devices(u);
	if (timerfd_gettime(u->timer, &set) == 0 && set.it_value.tv_nsec == 0)
		timerfd_settime(u->timer, 0, &soon, NULL);
}

int hp3_unseen_open(struct hp3_watch *w)
{
	const char *dev = w->o.dev != NULL ? w->o.dev : "/dev";
	struct hp3_unseen *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return -ENOMEM;
	w->unseen = u;
	snprintf(u->devices, sizeof(u->devices), "%s/infiniband", dev);
	u->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	u->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (u->inotify < 0 || u->timer < 0)
		return -errno;
	inotify_add_watch(u->inotify, dev, IN_CREATE);
	watch_devices(u);
	if (hp3_watch_add_fd(w, u->inotify, HP3_TAG_DEVICES, 0) < 0 ||
		hp3_watch_add_fd(w, u->timer, HP3_TAG_SCAN, 0) < 0)
		return -errno;
	hp3_unseen_scan(w);
	return 0;
}

void hp3_unseen_close(struct hp3_unseen *u)
{
	if (u == NULL)
		return;
	close(u->inotify);
	close(u->timer);
	free(u);
}
