/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The window of a pair of hosts: a limit of the bytes in flight on all paths between them. The core
 * of libhp3x and the simulator's balancer hp3x use it. Sizes bytes, rates bytes per second. The
 * user chooses the unit of time: `second` is the number of units in a second.
 *
 * Paths of a pair share links of the two hosts. So n windows of paths put n times as many bytes
 * into the queue of a shared link as one path needs. The window of the pair is a share of
 * rate * RTT. The rate is what the peer acknowledged on all paths while a request was in flight
 * (BBR's delivery rate). RTT is the round trip without queues. If queues make round trips longer
 * than the window allows for, the same bytes in flight give a lower rate, and the window shrinks.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3x_window_limits {
	uint64_t second; /* units of time */
	uint64_t most_rate; /* that the hosts' links allow; UINT64_MAX: unknown */
	uint32_t percent; /* of rate * RTT */
};

struct hp3x_window {
	uint64_t rate; /* EWMA */
	uint64_t bytes; /* the window */
	uint64_t delivered; /* acknowledged so far */
};

/* A request that was acknowledged. `bytes` are in `delivered` already. */
struct hp3x_window_sample {
	uint64_t bytes;
	uint64_t posted, now; /* times */
	uint64_t delivered; /* window->delivered when the request was posted */
	uint64_t rtt; /* of the pair, without queues */
	uint64_t more; /* bytes that the window exceeds its share of rate * RTT by */
	bool waits; /* more bytes wait: the network, not the application, sets the rate */
};

/* Rate of `bytes` in `time`: at least 1, and at most limits->most_rate. */
uint64_t hp3x_window_rate(const struct hp3x_window_limits *limits, uint64_t bytes, uint64_t time);
/* Bytes of limits->percent of rate * RTT. */
uint64_t hp3x_window_share(const struct hp3x_window_limits *limits, uint64_t rate, uint64_t rtt);
/* Moves rate and window by a quarter towards the sample. Growth: at most what was acknowledged. */
void hp3x_window_add(struct hp3x_window *window, const struct hp3x_window_limits *limits,
	const struct hp3x_window_sample *sample);
