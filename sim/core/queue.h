/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_CORE_QUEUE_H
#define HP3_SIM_CORE_QUEUE_H
/*
 * Event queue of the simulator, in time order; events of the same time in the order in which they
 * were added. That order is part of the contract: with it, equal seeds give the same bytes.
 *
 * Time is an integer, picoseconds (a byte at 100 Gb/s is 80 ps, at 400 Gb/s 20 ps), from 0.
 * Events are members of their owners (a packet, a port, a flow): adding one allocates nothing. An
 * event cannot be removed from the queue: when it fires, its owner checks whether it is stale. It
 * must not be added again before it fired.
 *
 * Layout: a ring of buckets of 2 ns each, 16.8 us in all, which holds nearly every event of a
 * packet network (propagation and serialisation). A bucket is sorted when its time comes. Later
 * events wait in a heap (core/heap.h) and move to the ring in time. The `events` bench compares
 * this with a heap alone.
 */
#include <stdbool.h>
#include <stdint.h>
#include "sim/core/heap.h"

struct sim;

struct sim_event {
	uint64_t at; /* ps */
	struct sim_event *next; /* of the queue; for the owner's use when in no queue */
	void (*fire)(struct sim *s, struct sim_event *event);
};

#define SIM_BUCKET_BITS 11u /* 2,048 ps */
#define SIM_BUCKETS     8192u

struct sim_bucket {
	struct sim_event *head, *tail;
};

/* A copy of the time, so that sorting does not read the event. */
struct sim_due {
	uint64_t at;
	struct sim_event *event;
};

struct sim_queue {
	struct sim_bucket *ring;
	uint64_t used[SIM_BUCKETS / 64]; /* bitmap: bucket is not empty */
	uint64_t bucket; /* number of the open one: time >> SIM_BUCKET_BITS */
	struct sim_due *open, *spare; /* events of the open bucket, sorted; room to sort them */
	uint32_t open_at, open_n, open_cap;
	struct sim_heap far;
	uint64_t pending, fired;
};

/* 0 or -ENOMEM. */
int sim_queue_init(struct sim_queue *q);
void sim_queue_free(struct sim_queue *q);

/* event->at: set by the caller, not earlier than the event that fired last. */
void sim_queue_add(struct sim_queue *q, struct sim_event *event);

/* The next event, or NULL if there is none. */
struct sim_event *sim_queue_pop(struct sim_queue *q);

#endif
