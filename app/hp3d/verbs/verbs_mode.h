/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module handles the queue pairs of applications that have loaded libhp3verbs.so. No packet of
 * these queue pairs passes through hp3d. Each application reports in shared memory what its queue
 * pairs do (app/verbs/share.h), and carries out moves. The pipe's engine makes the same decisions
 * as for an inline rail. This module passes the engine's SUSPEND, MOVE and RESUME to the
 * application.
 *
 * The socket's file mode admits hp3d's user, root, and the configured group; SO_PEERCRED identifies
 * the user. The shared memory is untrusted input. The memory must have the right size, and a seal,
 * so that it cannot shrink while it is mapped. hp3d copies a cell before it checks the cell's
 * values. hp3d uses none of these values as an index or address. hp3d neither reads nor writes a
 * descriptor that an application made. hp3d ignores invalid cells, and counts queue pairs that it
 * refuses.
 *
 * An application takes a bounded part of the lcore's time: per scan, at most HP3D_VERBS_CHANGES
 * queue pairs begin or end, and HP3D_VERBS_SAMPLED are sampled. The more queue pairs an application
 * has, the less often hp3d scans all of them. The cost of one application does not depend on the
 * queue pairs of other applications.
 *
 * The main thread calls hp3d_verbs_watch(). It also calls hp3d_verbs_open() and hp3d_verbs_fd()
 * before the pipe's lcore starts, and hp3d_verbs_close() after the lcore has ended. Only the lcore
 * calls the other functions; any thread may read counters.
 */
#include "app/hp3d/pipe/pipe.h"
#include "app/verbs/share.h"

#define HP3D_VERBS_RAIL  "verbs" /* name of the rail in the names of flows */
#define HP3D_VERBS_SHIMS 64u /* applications at a time */
#define HP3D_VERBS_CELLS (HP3D_VERBS_SHIMS * HP3_VERBS_CELLS)

/* X(field, help) */
#define HP3D_VERBS_COUNTERS(X)                                                                     \
	X(connected, "applications that connected")                                                \
	X(refused_user, "connections of users that are not allowed")                               \
	X(refused_hello, "connections with an invalid hello or unusable memory")                   \
	X(refused_full, "connections refused: no place free")                                      \
	X(displaced, "applications disconnected to make a place for a user with fewer")            \
	X(postponed, "scans of an application with more changes than one scan handles")            \
	X(refused_qps, "queue pairs refused: no room, or another application has them")            \
	X(refused_share, "queue pairs refused: beyond the share of their user")                    \
	X(copies, "copies of CNPs received")                                                       \
	X(moved, "moves that an application carried out")                                          \
	X(failed, "moves that an application could not carry out")

struct hp3d_verbs_counters {
#define X(field, help) uint64_t field;
	HP3D_VERBS_COUNTERS(X)
#undef X
	uint64_t shims, qps; /* at present */
};

struct hp3d_verbs_mode;
struct hp3d_ud_counters;

/*
 * Listens. NULL after a message on stderr that names the fix. *cfg must outlive the result. `clock`
 * is the clock of all times `now`.
 */
struct hp3d_verbs_mode *hp3d_verbs_open(
	const struct hp3_config *cfg, struct hp3d_pipe *p, uint64_t (*clock)(void));
/* Applications continue without hp3d, on their present ports. Harmless with NULL. */
void hp3d_verbs_close(struct hp3d_verbs_mode *b);
/*
 * Call it from the main thread many times a second, once hp3d's privileges are final. The first
 * call allows hp3d to open RNICs. The calls read the RNICs' port counters (port_news.h).
 */
void hp3d_verbs_watch(struct hp3d_verbs_mode *b, uint64_t now);
void hp3d_verbs_reconfigure(struct hp3d_verbs_mode *b, const struct hp3_config *cfg);

/* Readable when hp3d_verbs_poll() has something to do. */
int hp3d_verbs_fd(const struct hp3d_verbs_mode *b);
/*
 * Handles applications that connect, disconnect or write to their eventfd. Also handles datagrams
 * of other hosts' hp3d, and copies of CNPs. Returns the number of events.
 */
unsigned hp3d_verbs_poll(struct hp3d_verbs_mode *b, uint64_t now);
/* Samples queue pairs, and handles time-outs. Returns when to call it next. */
uint64_t hp3d_verbs_tick(struct hp3d_verbs_mode *b, uint64_t now);

/* A queue pair, for reporting only. */
struct hp3d_verbs_qp {
	struct hp3_verbs_cell
		cell; /* as the application wrote it; the device's name is plain text */
	struct hp3_flow_info flow;
	uint32_t pid;
	char comm[16];
	uint64_t rate; /* bit/s completed, over a tenth of a second */
	uint32_t least_ns; /* shortest time from post to completion, with as many bytes in the send
			      queue as for the newest sample */
	uint16_t failed; /* errno of the latest failed move; 0: none */
};
/* Queue pair `index` of HP3D_VERBS_CELLS. False: there is none. */
bool hp3d_verbs_read_qp(
	const struct hp3d_verbs_mode *b, uint32_t index, uint64_t now, struct hp3d_verbs_qp *qp);

const struct hp3d_verbs_counters *hp3d_verbs_counters(const struct hp3d_verbs_mode *b);
/* Counters of hp3d's own datagrams (app/hp3d/ud); NULL: hp3d has no queue pairs of its own. */
const struct hp3d_ud_counters *hp3d_verbs_ud_counters(const struct hp3d_verbs_mode *b);
