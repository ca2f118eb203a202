/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A worker is one data lcore. A worker owns one pipe (engine, hold queues, counters) per rail, or
 * per bond; no other thread accesses these pipes. Other threads reach a worker in two ways only.
 * They run a function on the worker between two bursts (hp3d_worker_call()), or they read single
 * counters at any time.
 */
#include <stdbool.h>
#include "app/hp3d/pipe/event.h"

struct hp3d_pipe;
struct hp3d_worker;

struct hp3d_verbs_mode;

unsigned hp3d_worker_count(void);
struct hp3d_worker *hp3d_worker(unsigned index);
/* All rails of a bond have the same pipe. To handle each pipe once, skip rails that are no lead
 * (config/bonds.h). */
struct hp3d_pipe *hp3d_worker_pipe(struct hp3d_worker *w, unsigned rail);
bool hp3d_rail_is_lead(unsigned rail);
struct hp3d_verbs_mode *hp3d_worker_verbs_mode(struct hp3d_worker *w); /* NULL: inline */
/* The worker that has the flows of a rail between two addresses (IPv4: four bytes), in either
 * direction. */
unsigned hp3d_worker_of(unsigned rail, bool ipv6, const uint8_t *a, const uint8_t *b);

/*
 * Runs fn(w, arg) on the worker's lcore between two bursts, and waits until fn returns. Packets
 * wait meanwhile, so fn must be short: for example, it collects one page of a list. Returns 0, or
 * -ETIMEDOUT if the worker did not begin fn within a second. Control thread only.
 */
int hp3d_worker_call(
	struct hp3d_worker *w, void (*fn)(struct hp3d_worker *w, void *arg), void *arg);

/* Takes up to n events that the worker has reported; control thread only. Returns their number. */
unsigned hp3d_worker_events(struct hp3d_worker *w, struct hp3d_event *event, unsigned n);
uint64_t hp3d_worker_events_lost(const struct hp3d_worker *w); /* lost because the ring was full */

/* How a worker spent its time since its start, by rounds of its loop. */
struct hp3d_worker_time {
	uint64_t busy_ns; /* rounds that handled packets */
	uint64_t idle_ns; /* other rounds, including sleep */
};
struct hp3d_worker_time hp3d_worker_time(const struct hp3d_worker *w);
/* When the latest round of the worker's loop began (hp3d_now()). This time also advances while the
 * lcore sleeps, but not while it hangs. */
uint64_t hp3d_worker_round_at(const struct hp3d_worker *w);
