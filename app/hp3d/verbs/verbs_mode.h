/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_VERBS_MODE_H
#define HP3D_VERBS_MODE_H
/*
 * This module: queue pairs of applications that have loaded libhp3verbs.so. hp3d sees no packet of
 * them: what they do stands in memory that the application shares (app/verbs/share.h), and moves
 * are carried out there. It calls the pipe, whose engine decides as it does inline, and carries out
 * SUSPEND, MOVE and RESUME.
 *
 * The socket is for whom its file lets in: hp3d's user and root, and the group that the
 * configuration names; the kernel is asked who connects (SO_PEERCRED). What an application shares
 * is untrusted input. The memory has to be sealed, so that it cannot be taken from under us, and
 * as large as it says; it is copied before it is judged; nothing in it is an index or an address of
 * ours; no descriptor that an application made is read or written. What is wrong is left alone, and
 * counted.
 *
 * What an application does takes a bounded part of the lcore's time: per look HP3D_VERBS_CHANGES
 * queue pairs that come or go, and HP3D_VERBS_SAMPLED of which is asked what they did; the more
 * queue pairs it has the rarer are looks at all of them. Nothing is looked for among those of
 * others.
 *
 * All of it belongs to the lcore of the pipe; counters may be read by any thread.
 */
#include "app/hp3d/pipe/pipe.h"
#include "app/verbs/share.h"

#define HP3D_VERBS_RAIL  "verbs" /* in the names of flows */
#define HP3D_VERBS_SHIMS 64u /* applications at a time */
#define HP3D_VERBS_CELLS (HP3D_VERBS_SHIMS * HP3_VERBS_CELLS)

/* X(field, help) */
#define HP3D_VERBS_COUNTERS(X)                                                                     \
	X(connected, "applications that came")                                                     \
	X(refused_user, "connections of users that may not")                                       \
	X(refused_hello, "connections that said something else, or shared what cannot be used")    \
	X(refused_full, "connections beyond those that there is room for")                         \
	X(displaced, "applications that gave their place to one of a user with fewer")             \
	X(postponed, "looks at an application that had more changes than one takes")               \
	X(refused_qps, "queue pairs without room, or that another application has")                \
	X(refused_share, "queue pairs beyond the share of their user")                             \
	X(copies, "CNPs of which a copy came")                                                     \
	X(moved, "moves that an application carried out")                                          \
	X(failed, "moves that it could not carry out")

struct hp3d_verbs_counters {
#define X(field, help) uint64_t field;
	HP3D_VERBS_COUNTERS(X)
#undef X
	uint64_t shims, qps; /* now */
};

struct hp3d_verbs_mode;
struct hp3d_ud_counters;

/* Listens. NULL after a message on stderr that names the fix. *cfg stays where it is. */
struct hp3d_verbs_mode *hp3d_verbs_open(const struct hp3_config *cfg, struct hp3d_pipe *p);
/* Applications go on by themselves, on the ports that they have. Harmless with NULL. */
void hp3d_verbs_close(struct hp3d_verbs_mode *b);
/*
 * The main thread, many times a second, once hp3d's privileges are what they stay: RNICs may be
 * opened since the first call, and what their ports count is read.
 */
void hp3d_verbs_watch(struct hp3d_verbs_mode *b, uint64_t now);
void hp3d_verbs_reconfigure(struct hp3d_verbs_mode *b, const struct hp3_config *cfg);

/* Readable when hp3d_verbs_poll() has something to do. */
int hp3d_verbs_fd(const struct hp3d_verbs_mode *b);
/* Who comes, goes, or has rung. Returns how many did. */
unsigned hp3d_verbs_poll(struct hp3d_verbs_mode *b, uint64_t now);
/* Now and then: what queue pairs have done. Returns when it wants to be called next. */
uint64_t hp3d_verbs_tick(struct hp3d_verbs_mode *b, uint64_t now);

/* A queue pair, for people. */
struct hp3d_verbs_qp {
	struct hp3_verbs_cell cell; /* as the application has it; texts end */
	struct hp3_flow_info flow;
	uint32_t pid;
	char comm[16];
	uint64_t rate; /* bit/s completed, over a tenth of a second */
	uint32_t least_ns; /* from post to completion, with as much before it as the newest had */
	uint16_t failed; /* errno of the newest move that failed; 0: none has */
};
/* Queue pair `index` of HP3D_VERBS_CELLS. False: there is none. */
bool hp3d_verbs_read_qp(
	struct hp3d_verbs_mode *b, uint32_t index, uint64_t now, struct hp3d_verbs_qp *qp);

const struct hp3d_verbs_counters *hp3d_verbs_counters(const struct hp3d_verbs_mode *b);
/* Of what hp3d says itself (app/hp3d/ud); NULL: it has no queue pairs of its own. */
const struct hp3d_ud_counters *hp3d_verbs_ud_counters(const struct hp3d_verbs_mode *b);

#endif
