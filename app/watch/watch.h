/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_WATCH_H
#define HP3_WATCH_WATCH_H
/*
 * Watches how this host's processes set up and tear down queue pairs, before a packet is on the
 * wire: for every reliable connection over RoCEv2 an UP event when its local queue pair enters RTS
 * (addresses, both QPNs, first PSN) and a DOWN event when it leaves, is destroyed or its process
 * ends.
 *
 * Two watchers, by BPF. The kernel's (fentry and fexit on ib_core) sees every queue pair of the
 * host and cannot be fooled. The library's (uprobes on libibverbs) is for kernels without fentry or
 * with verbs drivers that bypass it; it sees processes that use a copy of libibverbs that it knows,
 * and believes what they say. Whatever is missing is told once by name. Connections that neither
 * sees are still paired by connection management and challenges on the wire.
 *
 * One thread; nothing blocks. No UP have queue pairs that were set up before the watcher started,
 * and those that stay in RTR, since they only answer.
 */
#include <stdbool.h>
#include <stdint.h>
#include "config/config.h"
#include "engine/engine.h"

struct hp3_watch;

enum hp3_watch_by { HP3_BY_NONE, HP3_BY_KERNEL, HP3_BY_LIBRARY };

struct hp3_watch_event {
	struct hp3_qp_event qp; /* what the engine takes; DOWN bears the same addresses as UP */
	/* CLOCK_MONOTONIC, when the call began; DOWN of a process: when noticed */
	uint64_t time_ns;
	uint32_t pid;
	uint32_t rq_psn; /* first PSN that the peer will send */
	uint32_t mtu; /* path MTU, bytes */
	uint8_t port; /* of the device */
	char device[64]; /* RDMA device, such as mlx5_0 */
};

struct hp3_watch_options {
	uint8_t verbs; /* enum hp3_watch_verbs; AUTO: the kernel's, else the library's, else none */
	const char *libraries; /* paths of libibverbs, by comma; NULL or "": the loader's choice */
	bool discover; /* other processes' copies of libibverbs are looked for */
	const char *sysfs; /* NULL: "/sys" */
	const char *dev; /* NULL: "/dev" */
	void (*event)(void *ctx, const struct hp3_watch_event *event);
	/* One line without end for the operator: what serves, what is missing, who is not seen. */
	void (*notice)(void *ctx, const char *text);
	void *ctx;
};

/*
 * 0, also under AUTO if no watcher is to be had (hp3_watch_by() tells). Negative errno if the
 * watcher asked for by name is not to be had, after a notice; -ENOMEM.
 */
int hp3_watch_open(const struct hp3_watch_options *o, struct hp3_watch **out);
void hp3_watch_close(struct hp3_watch *w); /* NULL is harmless */

enum hp3_watch_by hp3_watch_by(const struct hp3_watch *w);
const char *hp3_watch_by_name(enum hp3_watch_by by); /* none, kernel, library */
int hp3_watch_fd(
	const struct hp3_watch *w); /* readable: call hp3_watch_poll(); -1: nothing to wait for */
void hp3_watch_poll(struct hp3_watch *w); /* hands out everything that there is */

#endif
