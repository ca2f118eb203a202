/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The core of libhp3x: decides which slice takes which path, and counts each op exactly once.
 * Sans-IO: the shell (xfer/lib) passes the time, completions and messages in, and carries out the
 * acts that come out. The core makes no system call, allocates nothing after hp3x_core_create(),
 * and reads no clock. One core per domain; the shell serialises all calls. Times ns, sizes bytes.
 *
 * Paths. Path n of a peer joins the same two rails at both ends. hp3x_core_path_rails() computes
 * the rails from n. The end with the greater identity is the opener: only it opens paths.
 *
 *     DOWN --back-off over--> OPENING --both ends connected--> PROBING --answer--> UP
 *       ^                        |                                |                 |
 *       +------ SHUT done at both ends <------ failure, hang, rail event, op ended -+
 *
 * A path that fails is shut at both ends before anything that relied on it ends: the local end is
 * SHUT by the shell, the remote end when the peer's core has answered FENCED. After that, no rail
 * accesses memory for a slice that was sent on this path, and no immediate of it arrives. So:
 *   - slices of a failed path are sent on other paths at once, but
 *   - an op ends with OK only when each slice was acknowledged, and each path that failed with a
 *     slice of this op was shut and fenced;
 *   - an op that times out or is cancelled waits for the local SHUT only, at most fence_ns.
 *
 * Counting. Each write with a counter has a slot of the peer (1,024) and a generation (1 bit). The
 * immediate of each slice names the slot:
 *
 *     bit 31: 1   slot 10, generation 1, counter 12, add 8      an op of one slice
 *     bit 31: 0   slot 10, generation 1, slice 12, unused 8     an op of several slices
 *
 * For several slices, a message BEGIN states slot, generation, counter, add and number of slices.
 * It may arrive before or after the slices. The receiver keeps a bitmap of the slices of each slot,
 * adds once when all have arrived, and answers COUNTED. The sender uses a slot again, with the
 * other generation, only after COUNTED, all acknowledgements, and all fences. An op whose add
 * exceeds 255 has a BEGIN, too.
 *
 * No slice of such an op is executed twice: the receiver may use the memory for something else as
 * soon as its counter has changed. When a path fails, the peer shuts its end, and FENCED says how
 * many immediates it has received on this opening. A path executes requests in order. So the sender
 * knows which slices the peer has, and sends only the others again.
 *
 * An acknowledgement shows that the remote rail has executed a write, but not that the peer's core
 * has seen its immediate. After an op that did not end with OK, the sender
 * therefore asks by FLUSH whether the peer has seen as many immediates of each path as were
 * acknowledged, and waits for FLUSHED. If the op did not end with OK, FORGET then clears the
 * bitmap. The first 64 slots are for ops of more than 64 slices, the others for all other ops.
 *
 * Choice. The core estimates for each path the least RTT and the rate (EWMA of bytes acknowledged
 * per time while slices were in flight). Expected finish of a slice on a path:
 *
 *     (bytes in flight on the path + slice) / rate + RTT
 *
 * A slice takes the path with the earliest finish, if it would not finish later there than all
 * waiting slices of the peer would on the other paths. A slice that is sent again takes a path that
 * has answered since the slice failed; the third time, the path that has been up for the longest
 * time. The window of a path bounds its bytes in
 * flight; it begins with one slice, grows with each acknowledgement, and ends at twice rate * RTT.
 * A second window bounds the bytes in flight on all paths to a peer (window.h, pairs.c).
 * A slice fails its path if it takes longer than eight times what was expected, plus a time that
 * adapts to the lateness of earlier slices: hang_least_ns to hang_ns.
 *
 * Back-off of a path: back_off_ns, doubled for each failure up to most_back_off_ns, with up to a
 * quarter of random time; reset after the path was up for four times the last back-off.
 *
 * Sources: TENT (score of rails, exclusion, re-probing), fabric-lib (immediates that count), BBR
 * (delivery rate), IBTA 1.6 9.9.2 (what is left undone when a queue pair fails).
 */
#include "xfer/hp3x.h"

#define HP3X_SLOTS      1024u /* of a peer and direction */
#define HP3X_ENDPOINT   64u /* most bytes by which a provider describes its end of a path */
#define HP3X_MESSAGE    (HP3X_MOST_SEND + 64u) /* longest message between cores */
#define HP3X_MOST_PATHS 128u /* of a peer */

struct hp3x_core;

struct hp3x_core_config {
	uint64_t identity; /* of this domain; random, not 0 */
	uint32_t peers, ops, slices; /* capacities; slices: in flight, of all paths */
	uint32_t rails;
	uint64_t rail_rate[HP3X_RAILS]; /* bytes/s; 0: unknown */
	uint32_t paths_per_rail;
	uint32_t slice_bytes;
	uint64_t hang_least_ns, hang_ns; /* default 50 ms; the first is not the greater */
	uint64_t open_ns; /* a path that is not up after this time has failed; default 1 s */
	uint64_t back_off_ns, most_back_off_ns; /* default 10 ms, 1 s */
	uint64_t fence_ns; /* HP3X_FENCE_MS */
	uint64_t keepalive_ns, peer_timeout_ns; /* of peers; default 1 s, 10 s */
	uint64_t seed;
};

void hp3x_core_defaults(struct hp3x_core_config *config);
/* Bytes that the core needs, or 0: the configuration is not valid. */
size_t hp3x_core_size(const struct hp3x_core_config *config);
/* `memory`: hp3x_core_size() bytes, aligned to 64. */
struct hp3x_core *hp3x_core_create(
	const struct hp3x_core_config *config, void *memory, uint64_t now);

/* --- acts --- */

enum hp3x_act_kind {
	HP3X_ACT_WRITE, /* post an RDMA WRITE, with an immediate if has_imm */
	HP3X_ACT_READ,
	HP3X_ACT_PROBE, /* post a request without data, which the remote rail must answer */
	/* Make an endpoint: answer hp3x_core_opened(). At the acceptor, `data` is the opener's. */
	HP3X_ACT_OPEN,
	HP3X_ACT_CONNECT, /* to the remote endpoint `data`: answer hp3x_core_connected() */
	/*
	 * Destroy the endpoint: answer hp3x_core_shut(), within half of fence_ns. Also comes after
	 * an OPEN or CONNECT that has failed, or was not answered: it needs no answer then.
	 */
	HP3X_ACT_SHUT,
	HP3X_ACT_MESSAGE, /* send `data` to the peer's core: reliable, in order */
	HP3X_ACT_RECEIVED, /* a message of hp3x_send() */
	HP3X_ACT_COUNT, /* add to a counter of this domain */
	HP3X_ACT_ENDED, /* an op has ended */
	HP3X_ACT_PEER, /* the state of the peer has changed to `state` */
};

struct hp3x_act {
	uint8_t kind;
	bool has_imm;
	uint32_t peer, path;
	union {
		struct { /* WRITE, READ, PROBE */
			uint64_t token; /* returned by hp3x_core_completed() */
			const void *region; /* local; as submitted */
			uint64_t offset; /* in the region */
			uint64_t remote; /* address */
			uint32_t remote_key, length, imm;
		} post;
		struct { /* OPEN, CONNECT, MESSAGE, RECEIVED; valid until the next call */
			const void *data;
			uint32_t length, local_rail, remote_rail;
		} blob;
		struct { /* COUNT */
			uint32_t counter, add;
		} count;
		struct hp3x_completion ended; /* its `peer` is NULL */
		enum hp3x_peer_state state;
	};
};

/*
 * Writes the next act. False: none now. Call until false after each input; after several inputs is
 * enough, except that each message has to be followed by it.
 */
bool hp3x_core_act(struct hp3x_core *core, uint64_t now, struct hp3x_act *act);
/* Time of the next deadline; UINT64_MAX: none. At that time, call hp3x_core_tick(). */
uint64_t hp3x_core_due(const struct hp3x_core *core);
void hp3x_core_tick(struct hp3x_core *core, uint64_t now);

/* --- peers --- */

/* What peers must know of each other before the first path: the control channel's first message. */
struct hp3x_greeting {
	uint64_t identity;
	uint32_t rails, paths_per_rail;
};

void hp3x_core_greet(const struct hp3x_core *core, struct hp3x_greeting *own);
/* A new peer, CONNECTING. Returns its index, or -ENOBUFS. Ops may be submitted at once. */
int hp3x_core_peer_add(struct hp3x_core *core, uint64_t now);
/* The control channel stands. Errors: -EPROTO (the greeting makes no sense). */
int hp3x_core_peer_up(
	struct hp3x_core *core, uint64_t now, uint32_t peer, const struct hp3x_greeting *other);
/* The peer has ended, or the control channel is lost for good: all ops end with PEER_LOST. */
void hp3x_core_peer_lost(struct hp3x_core *core, uint64_t now, uint32_t peer);
/* This process closes the peer: all ops end with CLOSED. */
void hp3x_core_peer_close(struct hp3x_core *core, uint64_t now, uint32_t peer);
/* True: all ops have ended and all paths are shut: the index may be freed. Frees it. */
bool hp3x_core_peer_free(struct hp3x_core *core, uint32_t peer);
/* A message of the peer's core. Error: -EPROTO (treat the peer as lost). */
int hp3x_core_message(
	struct hp3x_core *core, uint64_t now, uint32_t peer, const void *data, size_t length);
/* The control channel may take messages again, or (false) not now: no MESSAGE acts until then. */
void hp3x_core_writable(struct hp3x_core *core, uint32_t peer, bool writable);

/* --- paths --- */

/* Rails of path n, as this end sees them. False: no such path. */
bool hp3x_core_path_rails(const struct hp3x_core *core, uint32_t peer, uint32_t path,
	uint32_t *local_rail, uint32_t *remote_rail);
/* OPEN is done: `endpoint` describes it. length 0: failed. */
void hp3x_core_opened(struct hp3x_core *core, uint64_t now, uint32_t peer, uint32_t path,
	const void *endpoint, size_t length);
void hp3x_core_connected(
	struct hp3x_core *core, uint64_t now, uint32_t peer, uint32_t path, bool success);
/*
 * SHUT is done: from now on, neither completions nor arrivals of the path's last opening come, and
 * no rail accesses memory for it. The shell has passed all earlier arrivals to the core before.
 */
void hp3x_core_shut(struct hp3x_core *core, uint64_t now, uint32_t peer, uint32_t path);
/* The provider found that the path is broken (queue pair in error, connection closed). */
void hp3x_core_path_failed(struct hp3x_core *core, uint64_t now, uint32_t peer, uint32_t path);
/* A rail has lost its port or its address, or has them again. Initially all are up. */
void hp3x_core_rail(struct hp3x_core *core, uint64_t now, uint32_t rail, bool up);

enum hp3x_result {
	HP3X_RESULT_OK,
	HP3X_RESULT_FAILED, /* perhaps executed; the path is broken */
	HP3X_RESULT_REFUSED, /* remote access error: not the path's fault */
};

void hp3x_core_completed(
	struct hp3x_core *core, uint64_t now, uint64_t token, enum hp3x_result result);
/* The immediate of a WRITE of the peer has arrived, after its data. */
void hp3x_core_arrived(
	struct hp3x_core *core, uint64_t now, uint32_t peer, uint32_t path, uint32_t imm);

/* --- ops --- */

/* As the functions of hp3x.h. The core copies pages. Returns the op, or a negative errno. */
int64_t hp3x_core_write(
	struct hp3x_core *core, uint64_t now, uint32_t peer, const struct hp3x_write *write);
int64_t hp3x_core_write_pages(
	struct hp3x_core *core, uint64_t now, uint32_t peer, const struct hp3x_pages *pages);
int64_t hp3x_core_read(
	struct hp3x_core *core, uint64_t now, uint32_t peer, const struct hp3x_read *read);
int64_t hp3x_core_send(struct hp3x_core *core, uint64_t now, uint32_t peer, const void *data,
	size_t length, const struct hp3x_common *common);
int hp3x_core_cancel(struct hp3x_core *core, uint64_t now, int64_t op);

/* For hp3x_paths(); `peer` of *path is NULL. False: no such path. */
bool hp3x_core_path_info(
	const struct hp3x_core *core, uint32_t peer, uint32_t number, struct hp3x_path *path);
