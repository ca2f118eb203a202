/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * State of the workers, for their set-up and end (workers.c) and their loop (loop.c). The state is
 * written before the lcores run. Later it is only read, unless a comment names a writer.
 */
#include <rte_ring.h>
#include "app/hp3d/lcores/link.h"
#include "app/hp3d/lcores/members.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/lcores/sleeper.h"
#include "app/hp3d/lcores/workers.h"

#define HP3D_WORKERS_MAX 64u
#define HP3D_TAGS_MAX    (2u * HP3_CONFIG_RAILS_MAX)

/* ENDED: the worker answers no more calls, and other threads may read everything that the worker
 * wrote */
enum hp3d_call_state {
	HP3D_CALL_NONE,
	HP3D_CALL_ASKED,
	HP3D_CALL_RUNNING,
	HP3D_CALL_DONE,
	HP3D_CALL_ENDED
};

/*
 * Fields that a worker writes while packets pass are on cache lines that no other thread writes.
 * Fields that other threads write are on separate cache lines. Other threads write these fields
 * only for a call, for a stop, or to end a sleep. The test hp3d/lcores_lines checks this. Workers
 * share the rings between them; each end of a ring has its own cache line.
 */
struct hp3d_worker {
	unsigned index, lcore;
	/* By rail. All rails of a bond have the pipe of their lead (ports.h). */
	struct hp3d_pipe *pipes[HP3_CONFIG_RAILS_MAX];
	struct rte_ring *events;
	/* Where packets leave, by hp3d_tag(). Written by the worker; other threads read
	 * backlogs. */
	struct hp3d_link out[HP3D_TAGS_MAX];
	struct hp3d_members_out members[2]; /* outputs of pipes with a bond, by direction */
	struct hp3d_verbs_mode *verbs; /* used instead of ports; NULL: inline */
	/* written by the worker; other threads read round, the times and the counts */
	struct {
		uint64_t due;
		uint64_t sleep_ns;
		uint64_t round; /* when the latest round of the loop began */
		uint64_t busy_until; /* when the latest round that moved packets ended */
		uint64_t events_lost;
		struct hp3d_worker_time time;
		uint32_t idle_loops;
		/* By rail: how often the worker did not read packets from the network. Causes: the
		 * RNIC's side accepted none, or a ring to another worker was full. Other threads
		 * read rx_left. */
		uint32_t rx_left[HP3_CONFIG_RAILS_MAX];
		uint32_t rx_seen[HP3_CONFIG_RAILS_MAX]; /* all workers' rx_left at the last tick */
		uint64_t ticked; /* time of the last tick */
	} own __rte_cache_aligned;
	/* between worker and control thread */
	struct {
		int state; /* enum hp3d_call_state, atomic */
		int quit; /* atomic; the control thread writes */
		void (*fn)(struct hp3d_worker *w, void *arg);
		void *arg;
	} call __rte_cache_aligned;
	struct hp3d_sleeper sleeper;
} __rte_cache_aligned;

_Static_assert(offsetof(struct hp3d_worker, own) % RTE_CACHE_LINE_SIZE == 0, "own lines");
_Static_assert(offsetof(struct hp3d_worker, call) % RTE_CACHE_LINE_SIZE == 0, "others' lines");
_Static_assert(offsetof(struct hp3d_worker, sleeper) % RTE_CACHE_LINE_SIZE == 0 &&
		       offsetof(struct hp3d_sleeper, asleep) % RTE_CACHE_LINE_SIZE == 0,
	"others' lines");
_Static_assert(sizeof(struct hp3d_worker) % RTE_CACHE_LINE_SIZE == 0, "the next worker's line");

/* While the lcores run, only a reload writes this structure: it changes how the lcores sleep, with
 * atomic stores. */
struct hp3d_lcores {
	struct hp3d_worker *workers;
	unsigned n, rails;
	unsigned tags; /* two per rail; none in verbs mode, which has no ports */
	uint16_t burst;
	bool may_sleep;
	uint64_t sleep_ns; /* longest sleep of an lcore that has just become idle */
	/* longest sleep of an lcore that writes heartbeats; UINT64_MAX: no lcore does */
	uint64_t heartbeat_ns;
	/* [from][to]: `work` has packets to be handled, `back` packets to be sent. Used only with
	 * several workers. */
	struct rte_ring *work[HP3D_WORKERS_MAX][HP3D_WORKERS_MAX];
	struct rte_ring *back[HP3D_WORKERS_MAX][HP3D_WORKERS_MAX];
};

extern struct hp3d_lcores hp3d_lcores;

/* Rail and direction in one number; workers pass it to each other in mbuf.port. */
static inline uint16_t hp3d_tag(unsigned rail, enum hp3_dir dir)
{
	return (uint16_t)(2 * rail + dir);
}

static inline bool hp3d_is_lead(unsigned rail)
{
	return hp3d_rail_ports(rail)->lead == rail;
}

/* The worker that has the whole rail, or the rail's ports. */
static inline unsigned hp3d_owner(unsigned rail)
{
	return hp3d_rail_ports(rail)->lead % hp3d_lcores.n;
}

/* Does this worker receive packets of this direction from their port? *queue is the Rx queue. */
static inline bool hp3d_receives(unsigned worker, unsigned rail, unsigned dir, uint16_t *queue)
{
	const struct hp3d_rail_ports *r = hp3d_rail_ports(rail);

	*queue = r->spreads[dir] ? (uint16_t)worker : 0;
	if (r->whole)
		return hp3d_owner(rail) == worker;
	return r->spreads[dir] || (2 * rail + dir) % hp3d_lcores.n == worker;
}

/* Returns the worker that sends packets of this direction after `worker` has handled them; *queue
 * is the Tx queue. If the port has a queue for each worker, this is `worker` itself. Otherwise, it
 * is the worker that receives from that port. */
static inline unsigned hp3d_sender(
	unsigned worker, unsigned rail, enum hp3_dir dir, uint16_t *queue)
{
	const struct hp3d_rail_ports *r = hp3d_rail_ports(rail);

	*queue = r->spreads[!dir] ? (uint16_t)worker : 0;
	if (r->whole)
		return hp3d_owner(rail);
	return r->spreads[!dir] ? worker : (2 * rail + !dir) % hp3d_lcores.n;
}

/* As hp3d_workers_start(), but starts no loop. */
int hp3d_workers_make(const struct hp3_config *cfg);
/* One round: receive, spread, handle, send. Returns how many packets it received, handled or
 * sent. */
uint32_t hp3d_worker_round(struct hp3d_worker *w);
/* The loop of an lcore; `worker` is a struct hp3d_worker. Ends when the worker's `quit` is set. */
int hp3d_worker_run(void *worker);
/* Handles and sends packets that still wait in the worker's rings and links; returns their number.
 * The control thread calls it after all loops have ended. */
uint32_t hp3d_worker_finish(struct hp3d_worker *w);
