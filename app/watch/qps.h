/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_QPS_H
#define HP3_WATCH_QPS_H
/*
 * The queue pairs of this host as their verbs calls tell: INIT, RTR (peer, PSN, MTU), RTS (first
 * PSN): UP; RESET, ERR, a call that failed to keep it, destruction, end of the process: DOWN (IBTA
 * 10.3.1). Pure: no system call; local addresses come from the caller.
 *
 * A queue pair is named by device and QPN, which the host does not use twice at a time: one that
 * comes again ends the earlier one, of the same process where any process may claim any number.
 * Each UP is followed by exactly one DOWN before the next UP. Only RC over RoCEv2 counts.
 *
 * Input is not trusted. HP3_QPS_MAX bounds memory. HP3_QPS_OF_USER bounds what all processes of one
 * user take of it; root's may take all.
 */
#include <linux/types.h>
#include "app/bpf/record.h"
#include "app/watch/watch.h"

#define HP3_QPS_MAX     262144u
#define HP3_QPS_OF_USER (HP3_QPS_MAX / 4)

struct hp3_qps;

/* A local address. */
struct hp3_gid {
	uint8_t gid[16];
	uint32_t vlan; /* as roce/tags.h has it; 0: none */
};

struct hp3_qps_hooks {
	/* The GID of a device's port; 0, or negative errno: not RoCEv2, or gone. */
	int (*gid)(
		void *ctx, const char *device, unsigned port, unsigned index, struct hp3_gid *out);
	void (*event)(void *ctx, const struct hp3_watch_event *event);
	void *ctx;
	/* Whoever calls is believed (the library's watcher): the same number of another process is
	 * another queue pair. Else it is that of a process which left without a word. */
	bool by_process;
	/* Which of them share a chain of the tables: random, and known to nobody else. */
	uint64_t seed;
};

struct hp3_qps *hp3_qps_create(const struct hp3_qps_hooks *hooks); /* NULL: no memory */
void hp3_qps_free(struct hp3_qps *q); /* no events */

/* 0; -ENOSPC, -EDQUOT (the user's share is used up) or -ENOMEM: the queue pair is not followed. */
int hp3_qps_call(struct hp3_qps *q, const struct hp3_verbs_call *c);
/* DOWN for all queue pairs that the process set up. */
void hp3_qps_process_ended(struct hp3_qps *q, uint32_t pid, uint64_t now);
unsigned hp3_qps_count(const struct hp3_qps *q);

#endif
