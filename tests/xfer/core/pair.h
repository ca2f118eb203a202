/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two cores, joined by paths that a test controls. All but requests takes no time. Core 0 is the
 * opener.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "base/heap.h"
#include "xfer/core/core.h"

#define US          1000ull
#define MS          1000000ull
#define SECOND      1000000000ull
#define PAIR_PATHS  8u
#define PAIR_QUEUE  65536u
#define PAIR_ENDS   8192u
#define PAIR_KEPT   64u
#define PAIR_EVENTS (1u << 16)

struct pair_path {
	uint64_t rate, delay, free_at;
	bool dead; /* requests never complete */
	bool mute; /* requests are executed, but never complete */
	bool keeps; /* immediates for core 1 wait until pair_deliver() */
	bool closed; /* endpoints cannot be made */
	uint32_t kept[PAIR_KEPT], n_kept; /* immediates that wait */
	uint64_t bytes, posts, most_in_flight; /* of core 0 */
	uint32_t opens, shuts;
};

struct pair_message {
	uint32_t to, length;
	uint8_t data[256];
};

struct pair {
	uint64_t now;
	struct hp3x_core *core[2];
	void *memory[2];
	int peer[2];
	struct pair_path path[PAIR_PATHS];
	struct hp3_heap heap;
	bool stalled; /* messages wait */
	bool holds; /* SHUT is not carried out */
	bool one_link; /* all paths share a link, with the rate of path 0 */
	struct pair_message *queue;
	uint32_t head, n;
	struct hp3x_completion *ended;
	uint32_t n_ended, written;
	uint64_t counter[HP3X_COUNTERS];
	uint32_t received;
	uint32_t imm_seen;
	uint64_t most_in_flight; /* of core 0, on all paths */
	enum hp3x_peer_state state[2];
};

struct hp3x_core_config pair_config(void);
struct pair *pair_create(const struct hp3x_core_config *config);
void pair_free(struct pair *p);
void pair_drain(struct pair *p);
void pair_run(struct pair *p, uint64_t until);
/* Core 1 handles the immediates that the path keeps. */
void pair_deliver(struct pair *p, uint32_t path);
/* A write of core 0. */
int64_t pair_write(struct pair *p, uint64_t length, uint32_t counter, uint32_t add);
struct hp3x_remote pair_remote(const struct pair *p);
struct hp3x_path pair_info(const struct pair *p, uint32_t core, uint32_t path);
