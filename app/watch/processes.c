/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process ends, its queue pairs end without a verbs call. A descriptor per process (pidfd)
 * reports the end of the process. PIDs are those of the host's first PID namespace; in others, ends
 * are not detected.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/watch/internal.h"

#define PROCESSES_MAX   4096u
#define GONE_MAX        64u
#define HOST_PIDS_INODE 0xeffffffcu /* PROC_PID_INIT_INO: the first PID namespace */

struct process {
	uint32_t pid;
	int fd;
};

struct hp3_processes {
	unsigned n;
	struct process p[PROCESSES_MAX];
	unsigned n_gone;
	uint32_t gone[GONE_MAX]; /* PIDs that ended before their calls arrived here */
	bool blind, reported_full;
};

int hp3_processes_open(struct hp3_watch *w)
{
	struct stat st;

	w->processes = calloc(1, sizeof(*w->processes));
	if (w->processes == NULL)
		return -ENOMEM;
	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino != HOST_PIDS_INODE) {
		w->processes->blind = true;
		hp3_watch_notice(&w->o,
			"the end of processes is not noticed: run in the host's PID namespace to "
			"forget the queue pairs of those that die");
	}
	return 0;
}

void hp3_processes_close(struct hp3_processes *p)
{
	for (unsigned i = 0; p != NULL && i < p->n; i++)
		close(p->p[i].fd);
	free(p);
}

void hp3_processes_settle(struct hp3_watch *w)
{
	struct hp3_processes *p = w->processes;

	while (p->n_gone > 0)
		hp3_qps_process_ended(w->qps, p->gone[--p->n_gone], hp3_clock_ns(CLOCK_MONOTONIC));
}

void hp3_processes_add(struct hp3_watch *w, uint32_t pid)
{
	struct hp3_processes *p = w->processes;
	int fd;

	if (p->blind || (p->n_gone > 0 && p->gone[p->n_gone - 1] == pid))
		return;
	for (unsigned i = 0; i < p->n; i++) {
		if (p->p[i].pid == pid)
			return;
	}
	fd = p->n < PROCESSES_MAX ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (fd < 0 && p->n < PROCESSES_MAX && errno == ESRCH) {
		if (p->n_gone == GONE_MAX)
			hp3_processes_settle(w);
		p->gone[p->n_gone++] = pid;
		return;
	}
	if (fd < 0 || hp3_watch_add_fd(w, fd, HP3_TAG_PROCESS, pid) < 0) {
		if (fd >= 0)
			close(fd);
		if (!p->reported_full)
			hp3_watch_notice(&w->o,
				"too many processes use RDMA: the end of further ones is not "
				"noticed (raise the limit of open files)");
		p->reported_full = true;
		return;
	}
	p->p[p->n++] = (struct process){.pid = pid, .fd = fd};
}

void hp3_processes_ended(struct hp3_watch *w, uint32_t pid)
{
	struct hp3_processes *p = w->processes;

	for (unsigned i = 0; i < p->n; i++) {
		if (p->p[i].pid != pid)
			continue;
		close(p->p[i].fd); /* and out of epoll */
		p->p[i] = p->p[--p->n];
		break;
	}
	hp3_qps_process_ended(w->qps, pid, hp3_clock_ns(CLOCK_MONOTONIC));
}
