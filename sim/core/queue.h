/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Event queue of the simulator. Events fire in order of time. Events of the same time fire in the
 * order in which they were added. Callers may rely on this order, which makes runs with equal seeds
 * identical.
 *
 * The time is an integer in picoseconds, and starts at 0 (a byte takes 80 ps at 100 Gb/s, 20 ps at
 * 400 Gb/s). An event is a member of its owner (a packet, a port, a flow), so events are not
 * allocated. Only the arrays of the queue grow. An event cannot be removed from the queue: when an
 * event fires, its owner checks whether the event is stale. An event must not be added again before
 * it has fired.
 *
 * Layout: a ring of buckets of 2 ns each covers the next 16.8 us. In a packet network, nearly all
 * events (propagation and serialisation) are within this time. The queue sorts a bucket when the
 * bucket's time begins. Later events wait in a heap (base/heap.h), and move to the ring before they
 * are due. The bench `events` compares this queue with a heap alone.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/heap.h"

struct sim;

struct sim_event {
	uint64_t at; /* ps */
	struct sim_event *next; /* while queued: for the queue; otherwise: for the owner */
	void (*fire)(struct sim *s, struct sim_event *event);
};

#define SIM_BUCKET_BITS 11u /* 2,048 ps */
#define SIM_BUCKETS     8192u

struct sim_bucket {
	struct sim_event *head, *tail;
};

/* An entry with a copy of the event's time, so that sorting does not read events. */
struct sim_due {
	uint64_t at;
	struct sim_event *event;
};

struct sim_queue {
	struct sim_bucket *ring;
	uint64_t used[SIM_BUCKETS / 64]; /* bitmap of buckets that are not empty */
	uint64_t bucket; /* number of the open bucket: time >> SIM_BUCKET_BITS */
	struct sim_due *open, *spare; /* sorted events of the open bucket; memory for sorting */
	uint32_t open_at, open_n, open_cap;
	struct hp3_heap far;
	uint64_t pending, fired;
};

void sim_queue_init(struct sim_queue *q);
void sim_queue_free(struct sim_queue *q);

/* Adds an event. event->at must not be earlier than the time of the event that fired last. */
void sim_queue_add(struct sim_queue *q, struct sim_event *event);

/* The next event, or NULL if there is none. */
struct sim_event *sim_queue_pop(struct sim_queue *q);
