/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_WHOLE_HOST_H
#define HP3_TESTS_WHOLE_HOST_H
/*
 * Between an hp3d that runs in the simulation and the machine that it believes to run on. hp3d is
 * a module (all of its objects, main() under another name) that is loaded anew for each process, so
 * that its variables are its own. Its calls for time, sleep, random numbers, threads, signals and
 * ports end here, by linker wrap (wrap_*.c); all others are what they are.
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/engine.h"

struct rte_mbuf;

/* What the simulation does for a process; `p` is that process. Times are in ns. */
struct whole_host {
	uint64_t (*now)(void *p); /* monotonic */
	uint64_t (*wall)(void *p);
	/* The thread sleeps until then, or until somebody has done what it may wait for: true. */
	bool (*sleep)(void *p, uint64_t until);
	bool (*interrupted)(void *p); /* a signal came while it slept */
	void (*kick)(void *p); /* lcores that sleep look again */
	uint64_t (*random)(void *p);
	void (*launch)(void *p, int (*fn)(void *arg), void *arg);
	void (*join)(void *p); /* until all that was launched has ended */
	void (*on_signal)(void *p, int sig, void (*fn)(int sig));
	void (*port)(void *p, uint16_t port, bool up);
	bool (*link)(void *p, uint16_t port); /* has one */
	void (*event)(void *p, const struct hp3_event *event);
	void (*copied)(void *p, struct rte_mbuf *copy); /* a packet that it holds */
	char letter; /* names of things that DPDK knows by name begin with it */
};

/* A counter of packets at a moment in which no packet is in the process's hands. */
struct whole_account {
	uint64_t gone; /* not forwarded, for a named reason */
	uint64_t held, waiting; /* in the engine's hands; in links and rings */
	uint64_t shown; /* copies handed to the RNIC, beside the packets that came */
	int64_t unaccounted; /* as the pipes count */
	uint32_t moved, moves; /* flows not at home; under way */
	uint64_t sprayed, sprayed_reads; /* packets; of them READ responses */
	uint64_t delivered; /* arrived out of order, and reached the RNIC in order */
	uint64_t
		doubts; /* order was given up: a packet is too late, too far ahead, finds no room */
	uint64_t paced; /* packets that waited for the pacer */
	uint64_t keyed; /* peers with which a key was agreed on */
};

/* What a module offers, by these names. */
typedef void whole_bind_fn(const struct whole_host *host, void *p);
typedef int whole_main_fn(int argc, char **argv);
typedef void whole_account_fn(struct whole_account *a);
/* A watcher has seen a queue pair come or go; while all threads sleep. */
typedef void whole_qp_fn(const struct hp3_qp_event *event);
struct rte_ring;
struct rte_mempool;
/* How many packets in it are of that pool. */
typedef unsigned whole_in_ring_fn(const struct rte_ring *r, const struct rte_mempool *pool);
typedef void *whole_alloc_fn(size_t n);
typedef void whole_free_fn(void *mem);
/* The process is gone: memory, descriptors, rings and pools are given back as a kernel would.
 * Returns how many pieces of memory there were. */
typedef unsigned whole_reap_fn(void);

/* For wrap_*.c */
extern const struct whole_host *whole_host;
extern void *whole_process;

enum whole_thing { WHOLE_MEMORY, WHOLE_RTE, WHOLE_RING, WHOLE_POOL };
void *whole_got(void *thing, enum whole_thing kind);
bool whole_gave(void *thing); /* false: it was none of ours */
int whole_opened(int fd);
void whole_name(char *buf, size_t cap, const char *name); /* as DPDK is to know it */

#endif
