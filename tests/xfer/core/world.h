/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A world of cores of libhp3x: nodes with rails, connections that copy real bytes, control channels
 * and faults, all chosen by a seed. It finds what the promises of hp3x.h exclude (world_ops.c).
 *
 * A connection is one opening of a path. Its writes are executed in order. When it breaks, requests
 * that were not completed are executed late, or never; their completions fail, or never come.
 * The network is as malicious as the promise of SHUT allows: a late request reads its local memory
 * until the local end is shut, and its data arrive until the remote end is shut.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/heap.h"
#include "base/random.h"
#include <errno.h>
#include "xfer/core/core.h"

#define NODES    4u
#define RAILS    4u
#define PATHS    16u
#define LINKS    64u /* pairs of nodes that were connected, in all lives */
#define MESSAGES 4096u
#define US       1000ull
#define MS       1000000ull
#define SECOND   1000000000ull
#define CONNS    8192u

struct world_params {
	uint64_t seed;
	uint32_t nodes, rails, paths_per_rail, ops;
	uint64_t length; /* most bytes of an op */
	uint32_t slices; /* capacity; 0: plenty */
	uint32_t breaks; /* of connections, per second and path */
	uint32_t hangs; /* of 10,000 requests */
	uint32_t flaps, deaths; /* in all */
	uint32_t stalls; /* of control channels, in all */
	bool healthy; /* path 0 of each pair never fails */
	bool late; /* immediates and completions wait in queues */
	bool deadlines, cancels, refusals;
	uint64_t faults_ns; /* after it, nothing fails any more */
};

struct world_op {
	uint32_t number, node, life, link; /* of the sender */
	int64_t op;
	uint8_t kind;
	uint64_t length, deadline, cancelled;
	uint8_t *local, *remote;
	uint32_t counter, add;
	uint64_t counted;
	bool reused; /* the counter has changed: the remote memory has another use */
	bool refuse, refused; /* the world refuses its requests; has refused one */
	bool ended, received;
	enum hp3x_status status;
	uint32_t order; /* of a send */
	uint8_t *posts; /* times that each slice was sent, by its offset */
	bool pages;
};

enum { OP_WRITE, OP_READ, OP_SEND };

struct request {
	struct request *next;
	struct conn *conn;
	uint32_t from; /* end of the connection */
	struct hp3x_act act;
	struct world_op *op;
	uint8_t *data; /* read from the local memory */
	bool left, landed, completed, hangs;
	uint64_t at;
};

/* Immediates and completions that a node has not polled yet. */
struct queued {
	struct queued *next;
	bool is_completion;
	uint64_t token, at;
	uint32_t imm;
	enum hp3x_result result;
};

enum end_state { END_NONE, END_OPEN, END_CONNECTED, END_SHUTTING, END_SHUT };

struct conn {
	struct link *link;
	uint32_t path, id;
	uint8_t end[2]; /* enum end_state */
	bool broken;
	bool sealed[2]; /* a write of this end was refused: nothing after it is executed */
	uint64_t rate, delay, free_at[2], last_at[2];
	struct request *first[2], *last[2];
	struct queued *head[2][2], *tail[2][2]; /* by end, and of completions */
};

struct message {
	uint32_t length;
	uint8_t *data;
};

struct channel {
	struct message queue[MESSAGES];
	uint32_t head, n;
	bool busy, full;
	uint64_t stalled; /* until */
};

/* Two lives of two nodes, connected. End 0 has the smaller node number. */
struct link {
	uint32_t node[2], life[2];
	int peer[2];
	bool up[2], lost[2];
	struct conn *conn[PATHS]; /* the newest; NULL: none */
	uint64_t slow_until[PATHS];
	uint32_t opens[PATHS];
	struct channel channel[2]; /* by sender */
	uint32_t orders[2], heard[2]; /* of sends */
};

struct node {
	struct hp3x_core *core;
	void *memory;
	uint32_t life;
	bool dead;
	bool rail_down[RAILS];
	uint64_t due;
	uint32_t n_ops;
};

struct world {
	struct world_params p;
	uint64_t now, random, faults_end;
	struct hp3_heap heap;
	struct node node[NODES];
	struct link *link[LINKS];
	uint32_t n_links, n_conns, n_ops, ended;
	struct world_op *op;
	bool failed;
	uint64_t sum_again, sum_ok, sum_late, sum_posts, sum_breaks, sum_shuts, sum_status[6];
};

enum event_kind {
	EVENT_TICK,
	EVENT_DELIVER,
	EVENT_POLL,
	EVENT_OPENED,
	EVENT_CONNECTED,
	EVENT_SHUT,
	EVENT_CHANNEL,
	EVENT_SUBMIT,
	EVENT_FAULT,
	EVENT_GREET,
	EVENT_LOST,
	EVENT_REPORT,
};

void world_event(struct world *w, uint64_t at, enum event_kind kind, uint32_t what, void *data);
void world_fail(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool world_chance(struct world *w, uint32_t of_10000);
uint64_t world_time(struct world *w, uint64_t least, uint64_t most);
void world_drain(struct world *w, uint32_t node);
/* A violation: prints the seed, and returns 1. */
int world_run(const struct world_params *p);

/* world_network.c */
void network_act(struct world *w, uint32_t node, const struct hp3x_act *act);
void network_event(struct world *w, enum event_kind kind, uint32_t what, void *data);
void network_break(struct world *w, struct conn *c);
struct link *network_link(struct world *w, uint32_t node, uint32_t peer, uint32_t *end);
void network_connect(struct world *w, uint32_t a, uint32_t b);
void network_free(struct world *w);

/* world_ops.c */
void ops_submit(struct world *w, uint32_t node);
void ops_ended(struct world *w, uint32_t node, const struct hp3x_completion *c);
void ops_count(struct world *w, uint32_t node, uint32_t counter, uint32_t add);
void ops_received(struct world *w, struct link *l, uint32_t end, const void *data, uint32_t length);
void ops_check(struct world *w);
void ops_free(struct world *w);
uint8_t ops_byte(const struct world_op *op, uint64_t at);

/* world_faults.c */
void faults_begin(struct world *w);
void faults_event(struct world *w, uint32_t what, void *data);
