/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Follows the queue pairs of this host by their verbs calls. The changes to RTR (peer, PSN, MTU)
 * and RTS (first PSN) together give an UP event. RESET, INIT, ERR, destruction, and the end of the
 * process give a DOWN event (IBTA 10.3.1). Another peer address, set in SQD, gives DOWN and UP.
 * Failed calls have no effect. Pure: no system call; the caller provides local addresses.
 *
 * Device and QPN name a queue pair: a host uses a QPN of a device only once at a time. A new queue
 * pair with the same name ends the earlier one. With by_process, the process is a part of the name.
 * Exactly one DOWN follows each UP before the next UP. Only reliable connections over RoCEv2 count.
 *
 * Input is not trusted. HP3_QPS_MAX bounds memory; HP3_QPS_OF_USER bounds the number of queue pairs
 * of all processes of one user, except root.
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
	uint32_t vlan; /* in the format of roce/tags.h; 0: none */
};

struct hp3_qps_hooks {
	/*
	 * Gets the GID of a device's port. Returns 0, or a negative errno: not RoCEv2, or the
	 * device is gone.
	 */
	int (*gid)(
		void *ctx, const char *device, unsigned port, unsigned index, struct hp3_gid *out);
	void (*event)(void *ctx, const struct hp3_watch_event *event);
	void *ctx;
	/*
	 * True for the library's watcher, which does not verify calls: the same QPN in another
	 * process is another queue pair. If false, a call by another process for the same QPN ends
	 * the earlier queue pair.
	 */
	bool by_process;
	uint64_t seed; /* seed of the hash tables: random and secret */
};

struct hp3_qps *hp3_qps_create(const struct hp3_qps_hooks *hooks); /* NULL: no memory */
void hp3_qps_free(struct hp3_qps *q); /* gives no events */

/*
 * Processes a verbs call. Returns 0; or, if the queue pair cannot be followed: -ENOSPC, -EDQUOT
 * (the user's share is full) or -ENOMEM.
 */
int hp3_qps_call(struct hp3_qps *q, const struct hp3_verbs_call *c);
/* Gives DOWN for all queue pairs that the process set up. */
void hp3_qps_process_ended(struct hp3_qps *q, uint32_t pid, uint64_t now);
unsigned hp3_qps_count(const struct hp3_qps *q);
