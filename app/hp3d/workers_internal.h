/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_WORKERS_INTERNAL_H
#define HP3D_WORKERS_INTERNAL_H
/*
 * What the life of the workers (workers.c) and their loop (worker_loop.c) share. Set up before the
 * lcores run, and then only read, but for what a comment gives to somebody.
 */
#include <rte_ring.h>
#include "app/hp3d/link.h"
#include "app/hp3d/workers.h"

#define HP3D_WORKERS_MAX 64u
#define HP3D_TAGS_MAX    (2u * HP3_CONFIG_RAILS_MAX)

enum hp3d_call_state { HP3D_CALL_NONE, HP3D_CALL_ASKED, HP3D_CALL_RUNNING, HP3D_CALL_DONE };

struct hp3d_worker {
	unsigned index, lcore;
	struct hp3d_pipe *pipes[HP3_CONFIG_RAILS_MAX];
	/* To the worker that sends, by tag; without ring where that is this one. The worker's own.
	 */
	struct hp3d_link away[HP3D_TAGS_MAX];
	/* the worker's own */
	uint64_t due;
	uint64_t sleep_ns;
	uint32_t idle_loops;
	uint64_t round; /* when the latest round of the loop began */
	uint64_t events_lost; /* others read */
	struct hp3d_worker_time time; /* others read */
	/* between worker and control thread */
	int call; /* enum hp3d_call_state, atomic */
	int quit; /* atomic; the control thread writes */
	void (*call_fn)(struct hp3d_worker *w, void *arg);
	void *call_arg;
	struct rte_ring *events;
} __rte_cache_aligned;

struct hp3d_lcores {
	struct hp3d_worker *workers;
	unsigned n, rails;
	uint16_t burst;
	bool may_sleep;
	uint64_t sleep_max_ns;
	uint32_t idle_spins;
	/* By rail and direction: the port where packets leave. Its sender's own. */
	struct hp3d_link links[HP3_CONFIG_RAILS_MAX][2];
	/* [from][to]: packets to be handled, packets to be sent; several workers only */
	struct rte_ring *work[HP3D_WORKERS_MAX][HP3D_WORKERS_MAX];
	struct rte_ring *back[HP3D_WORKERS_MAX][HP3D_WORKERS_MAX];
};

extern struct hp3d_lcores hp3d_lcores;

/* Rail and direction in one number, which mbuf.port carries from worker to worker. */
static inline uint16_t hp3d_tag(unsigned rail, enum hp3_dir dir)
{
	return (uint16_t)(2 * rail + dir);
}

/* The worker that polls the port through which packets of this direction come in. */
static inline unsigned hp3d_owner(unsigned rail, enum hp3_dir dir)
{
	return (2 * rail + dir) % hp3d_lcores.n;
}

/* The worker that sends what leaves in this direction: it owns the port at the other side. */
static inline unsigned hp3d_sender(unsigned rail, enum hp3_dir dir)
{
	return hp3d_owner(rail, dir == HP3_DIR_TX ? HP3_DIR_RX : HP3_DIR_TX);
}

/* The loop of an lcore; `worker` is a struct hp3d_worker. Ends when its quit is set. */
int hp3d_worker_run(void *worker);
/* Handles what waits in the worker's rings and links; returns how many packets moved on. For the
 * control thread once all loops have ended. */
uint32_t hp3d_worker_finish(struct hp3d_worker *w);

#endif
