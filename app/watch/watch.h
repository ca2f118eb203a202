/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Watches the set-up of this host's queue pairs, before their first packet, and their end. For each
 * reliable connection over RoCEv2, there is an UP event when its local queue pair enters RTS
 * (addresses, both QPNs, first PSN). A DOWN event follows when the queue pair enters RESET, INIT,
 * RTR or ERR, is destroyed, or its process ends.
 *
 * There are two watchers, both with BPF programs. The kernel's watcher (fentry and fexit on
 * ib_core) sees every queue pair of the host, and processes cannot deceive it. The library's
 * watcher (uprobes on libibverbs) is for kernels without fentry, or verbs drivers that bypass
 * ib_core. The library's watcher sees only processes that use a watched copy of libibverbs, and
 * does not verify their calls. A notice names each missing prerequisite once. hp3d pairs all other
 * connections by their packets (connection management, challenges).
 *
 * One thread calls these functions, and none of them blocks. Two kinds of queue pairs have no UP
 * event: those set up before the watcher started, and those that stay in RTR (they only respond).
 */
#include <stdbool.h>
#include <stdint.h>
#include "config/config.h"
#include "engine/engine.h"

struct hp3_watch;

enum hp3_watch_by { HP3_BY_NONE, HP3_BY_KERNEL, HP3_BY_LIBRARY };

struct hp3_watch_event {
	struct hp3_qp_event qp; /* for the engine; DOWN has the same addresses as UP */
	/* CLOCK_MONOTONIC, read during the call; for the end of a process, read when the watcher
	 * detected it */
	uint64_t time_ns;
	uint32_t pid;
	uint32_t rq_psn; /* first PSN that the peer will send */
	uint32_t mtu; /* path MTU, bytes */
	uint8_t port; /* port of the device */
	char device[64]; /* RDMA device, such as mlx5_0 */
};

struct hp3_watch_options {
	/* enum hp3_watch_verbs; AUTO: the kernel's watcher, else the library's, else none */
	uint8_t verbs;
	/* paths of libibverbs, separated by commas; NULL, "": the loader's choice */
	const char *libraries;
	bool discover; /* search processes for other copies of libibverbs */
	const char *sysfs; /* NULL: "/sys" */
	const char *dev; /* NULL: "/dev" */
	void (*event)(void *ctx, const struct hp3_watch_event *event);
	/* One line (without '\n') for the operator: which watcher runs, what is missing, which
	 * processes are not seen. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/* Reports a notice. The text is made printable ASCII (base/plain.h). */
void hp3_watch_notice(const struct hp3_watch_options *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Values of --verbs. */
extern const char *const hp3_watch_verbs_names[HP3_WATCH_OFF];

/*
 * Returns 0. With AUTO, returns 0 even if no watcher is available (see hp3_watch_by()). Returns a
 * negative errno if there is no memory, or after a notice that the configured watcher is not
 * available.
 */
int hp3_watch_open(const struct hp3_watch_options *o, struct hp3_watch **out);
void hp3_watch_close(struct hp3_watch *w); /* NULL is harmless */

enum hp3_watch_by hp3_watch_by(const struct hp3_watch *w);
const char *hp3_watch_by_name(enum hp3_watch_by by); /* none, kernel, library */
int hp3_watch_fd(
	const struct hp3_watch *w); /* readable: call hp3_watch_poll(); -1: nothing to wait for */
void hp3_watch_poll(struct hp3_watch *w); /* calls the hooks for all events so far */
