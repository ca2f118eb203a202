/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Interface between an hp3d in the simulation and its simulated machine. hp3d is a module: a
 * library of all its objects, with main() renamed. It is loaded once for each process, so that each
 * process has its own variables. Calls for time, sleep, random numbers, threads, signals and ports
 * are redirected to this interface by the linker (--wrap; wrap_*.c). All other calls are real.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/engine.h"

struct rte_mbuf;

/* Calls from a process `p` to the simulation. Times are in ns. */
struct whole_host {
	uint64_t (*now)(void *p); /* monotonic */
	uint64_t (*wall)(void *p);
	/* The thread sleeps until `until`. True: it was woken before. */
	bool (*sleep)(void *p, uint64_t until);
	bool (*interrupted)(void *p); /* a signal arrived during the sleep */
	void (*kick)(void *p); /* wakes lcores that sleep */
	uint64_t (*random)(void *p);
	void (*launch)(void *p, int (*fn)(void *arg), void *arg);
	void (*join)(void *p); /* until all launched threads have ended */
	void (*on_signal)(void *p, int sig, void (*fn)(int sig));
	void (*port)(void *p, uint16_t port, bool up);
	bool (*link)(void *p, uint16_t port); /* true: the port has a link */
	void (*event)(void *p, const struct hp3_event *event);
	void (*copied)(void *p, struct rte_mbuf *copy); /* hp3d has copied a packet that it holds */
	char letter; /* prefix of names in DPDK */
};

/* Counts of packets, at a time when the process handles no packet. */
struct whole_account {
	uint64_t gone; /* not forwarded, for a named reason */
	uint64_t held, waiting; /* held by the engine; in links between lcores and in rings */
	uint64_t shown; /* copies sent to the RNIC, in addition to received packets */
	int64_t unaccounted; /* packets that the pipes' counters do not explain */
	uint32_t moved, moves; /* flows not on their home ports; moves in progress */
	uint64_t sprayed, sprayed_reads; /* packets sprayed; how many of them were READ responses */
	uint64_t delivered; /* arrived out of order, and reached the RNIC in order */
	uint64_t doubts; /* forwarded out of order: too late, too far ahead, or no space
			  */
	uint64_t paced; /* packets that waited for the pacer */
	uint64_t keyed; /* peers with which a key was agreed on */
};

/* Symbols of a module. */
typedef void whole_bind_fn(const struct whole_host *host, void *p);
typedef int whole_main_fn(int argc, char **argv);
typedef void whole_account_fn(struct whole_account *a);
/* A watcher reports the set-up or end of a queue pair. Call it only while all threads sleep. */
typedef void whole_qp_fn(const struct hp3_qp_event *event);
struct rte_ring;
struct rte_mempool;
/* Number of packets in the ring that are from this pool. */
typedef unsigned whole_in_ring_fn(const struct rte_ring *r, const struct rte_mempool *pool);
typedef void *whole_alloc_fn(size_t n);
typedef void whole_free_fn(void *mem);
/* Call it when the process has ended: frees its memory, descriptors, rings and pools, as a kernel
 * would. Returns the number of memory blocks freed. */
typedef unsigned whole_reap_fn(void);

/* For wrap_*.c */
extern const struct whole_host *whole_host;
extern void *whole_process;

enum whole_thing { WHOLE_MEMORY, WHOLE_RTE, WHOLE_RING, WHOLE_POOL };
void *whole_got(void *thing, enum whole_thing kind);
bool whole_gave(void *thing); /* false: it was not recorded */
int whole_opened(int fd);
void whole_name(char *buf, size_t cap, const char *name); /* the name to use in DPDK */
