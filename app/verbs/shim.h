/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Types and functions that the files of libhp3verbs.so share. Threads find the records of contexts,
 * queue pairs and completion queues without a lock (table.h). A thread that polls may still read
 * the record of a destroyed queue pair. So the library reuses the memory of records, and never
 * frees it.
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include "app/verbs/share.h"

/*
 * Functions of the real library (libibverbs), each with its symbol version. An old library may lack
 * the functions of versions later than IBVERBS_1.1.
 */
#define HP3V_REAL(X)                                                                               \
	X(open_device, "IBVERBS_1.1")                                                              \
	X(import_device, "IBVERBS_1.10")                                                           \
	X(close_device, "IBVERBS_1.1")                                                             \
	X(create_qp, "IBVERBS_1.1")                                                                \
	X(modify_qp, "IBVERBS_1.1")                                                                \
	X(query_qp, "IBVERBS_1.1")                                                                 \
	X(destroy_qp, "IBVERBS_1.1")                                                               \
	X(destroy_cq, "IBVERBS_1.1")                                                               \
	X(query_gid, "IBVERBS_1.1")                                                                \
	X(get_async_event, "IBVERBS_1.1")                                                          \
	X(ack_async_event, "IBVERBS_1.1")                                                          \
	X(qp_to_qp_ex, "IBVERBS_1.6")

struct hp3v_real {
#define X(name, version) __typeof__(&ibv_##name) name;
	HP3V_REAL(X)
#undef X
};
/* The functions are looked up once. The result is never NULL, but members may be NULL. */
const struct hp3v_real *hp3v_real(void);

struct hp3v_key {
	const void *owner;
	uint32_t number;
	struct hp3v_key *next_unused; /* used only in records of contexts and completion queues */
};
#define HP3V_CONTEXT UINT32_MAX /* numbers of keys that are not QPNs */
#define HP3V_CQ      (UINT32_MAX - 1u)

struct hp3v_ctx {
	struct hp3v_key key;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *c, struct ibv_cq_init_attr_ex *attr);
	struct ibv_td *(*alloc_td)(struct ibv_context *c, struct ibv_td_init_attr *attr);
	/* the provider's function; NULL: the provider has none */
	int (*udp_sport)(struct ibv_qp *qp, uint16_t port);
	/* enum hp3_verbs_method: best method that the RNIC has not refused; atomic */
	uint8_t method;
	bool draws_otherwise; /* the RNIC's port for a flow label of 0 is not known */
	/* the provider omits locks, so only the application's thread may post; atomic */
	uint8_t unlocked;
};

/*
 * Each signalled work request has an entry with the sums of all work requests up to and including
 * it. Signalled work requests complete in the order of their entries, with one completion each.
 */
struct hp3v_entry {
	uint64_t wrs, bytes;
};

/*
 * Bits of the word `gate` of a queue pair. Bits 0 to 23: number of threads inside the provider's
 * post_send. Bit 24: slow-path flag. Bits from 32 on: number of signalled work requests so far,
 * modulo 2^32. A thread enters post_send with one atomic addition, which also allocates its
 * entries. The thread leaves with another atomic addition.
 */
#define HP3V_INSIDE    UINT64_C(0xffffff)
#define HP3V_SLOW      (UINT64_C(1) << 24)
#define HP3V_SIGNALLED 32

enum hp3v_hold { HP3V_OPEN, HP3V_CLOSING, HP3V_HELD };
enum hp3v_step { HP3V_IDLE, HP3V_DRAINING, HP3V_SUSPENDED, HP3V_RETURNING };
enum hp3v_section {
	HP3V_NO_SECTION,
	HP3V_LIVE, /* calls go to the provider */
	HP3V_LOCKED, /* as LIVE, and this thread has the queue pair's lock */
	HP3V_RECORDED, /* requests are held; this thread has the lock */
	HP3V_REFUSED, /* as RECORDED, but there is no room: the section ends with ENOMEM */
};

/*
 * Samples of the time from post to completion. The library samples at most one work request at a
 * time. If work requests are frequent, the library samples only one of many.
 */
enum hp3v_sampling {
	HP3V_NO_SAMPLE,
	HP3V_SAMPLING, /* the sampled work request is posted */
	HP3V_SAMPLE_KEPT, /* a thread is beginning or ending the sample */
};
#define HP3V_SAMPLE_EVERY 63u

struct hp3v_held; /* hold.h */
struct hp3v_held_wr;

struct hp3v_qp {
	/* Read by posts and polls. */
	struct hp3v_key key;
	struct hp3v_ctx *ctx;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	struct hp3_verbs_cell *cell; /* the shared cell, or `own` */
	struct hp3v_entry *entries;
	uint32_t mask; /* number of entries - 1 */
	uint32_t sig_all; /* IBV_SEND_SIGNALED: all work requests are signalled; else 0 */

	/* Written by posts. */
	uint64_t gate __attribute__((aligned(64)));
	/* up to this entry, the order of posts may differ from that of entries; atomic */
	uint32_t unsure;
	uint8_t tail; /* 0: the last posted work request is unsignalled; atomic */
	uint8_t sampling; /* enum hp3v_sampling; atomic */
	uint32_t sample_due; /* the next sample is of this entry or a later one; atomic */
	uint32_t sample_at; /* entry being sampled; atomic, because other threads read it */
	uint32_t sample_bytes, sample_queued, sample_every;
	uint64_t sample_ns, sampled_ns; /* time of the post; end of the previous sample */

	/* Written by polls. */
	/* how often the record has been used (its life) << 32 | completed signalled work
	 * requests */
	uint64_t done __attribute__((aligned(64)));
	uint8_t failed; /* 1: a completion had an error, so the queue pair is in error; atomic */

	/* Accessed under `lock`. Posts take the lock on the slow path only. */
	pthread_mutex_t lock __attribute__((aligned(64)));
	struct ibv_qp *qp; /* NULL: no queue pair */
	enum ibv_qp_state state; /* as the application set it */
	struct ibv_ah_attr av;
	uint32_t dest_qpn;
	unsigned int access;
	uint8_t responds_depth; /* max_dest_rd_atomic */
	struct ibv_qp_cap cap;
	enum hp3v_hold hold;
	struct hp3v_held *held;
	enum hp3v_step step; /* written under lock; atomic, because other threads read it */
	uint8_t method; /* method of the move */
	uint8_t op;
	uint16_t port; /* UDP source port to which the queue pair moves */
	uint16_t place; /* port to set with RTS; 0: none */
	bool placed; /* hp3d has decided: the queue pair stays on its port */
	bool waits; /* for PLACE, before RTR */
	uint64_t want; /* newest command seen */
	uint64_t begun, deadline;
	uint64_t suspended_ns; /* longest time in SUSPENDED */
	/* The provider's extended calls, if the provider has them, and the section in progress
	 * (wr_ex.c). */
	struct ibv_qp_ex *ex, ops;
	enum hp3v_section section;
	uint32_t section_from; /* index of the section's first held request */
	/* number of requests built in this section, and of signalled ones */
	uint32_t built, built_signalled;
	uint64_t built_bytes, op_bytes;
	bool alone, op_begun, op_signalled;

	struct hp3_verbs_cell own;
	int index; /* index of the shared cell; -1: none */
	struct hp3v_qp *next, *next_free;
};

struct hp3v_cq {
	struct hp3v_key key;
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cq);
};

/*
 * The agent: one thread in the application's process, which communicates with hp3d and carries out
 * moves. The thread blocks all signals. It wakes up once a second, when hp3d sends a byte, and
 * during a move every 50 us. Without hp3d, the thread tries to connect ten times a second for five
 * seconds, then once a second.
 */

/* Starts the thread unless it runs. Call it before each change of a queue pair to RTR. */
void hp3v_agent_start(void);
/* Has the agent tried to connect to hp3d at least once? */
bool hp3v_agent_looked(void);

/* The library's records of device contexts. */

/*
 * Replaces the context's functions by those of this library, once. NULL: no memory, or the table is
 * full; then the context keeps the provider's functions.
 */
struct hp3v_ctx *hp3v_ctx_adopt(struct ibv_context *context);
/* Removes the record of a closed context. A later context may have the same address. */
void hp3v_ctx_forget(struct hp3v_ctx *ctx);

/* The next two functions are for extended completion queues, polled by ibv_start_poll() and
 * ibv_next_poll(). */
void hp3v_cq_adopt(struct ibv_cq_ex *cq);
void hp3v_cq_forget(struct hp3v_cq *c);

/* Functions that replace the provider's functions in a context's ops. */
int hp3v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int hp3v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
/* Registers a context's poll_cq for hp3v_poll_cq(). Call it once per context, under hp3v_lock(),
 * before the context's poll_cq becomes hp3v_poll_cq(). */
void hp3v_poll_by(int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc));

/*
 * The extended calls to post: ibv_wr_start(), calls for each work request and its data, then
 * ibv_wr_complete(). The calls are pointers in the queue pair itself. The calls from ibv_wr_start()
 * to ibv_wr_complete() are a section. The library records a section that begins while requests are
 * held. The section's thread then has the queue pair's lock until the section ends. If the section
 * does not fit into the pool, the library posts all held requests, and the section continues with
 * the provider. If requests would exceed max_send_wr, the section ends with ENOMEM.
 */
void hp3v_ex_attach(struct hp3v_qp *q, struct ibv_qp *qp, uint64_t send_ops);

/*
 * The next functions post the work requests of a section with the provider's extended calls. They
 * count each work request when it is built. Only one thread at a time builds requests: the thread
 * has the provider's lock from hp3v_ex_begin() on, or the queue pair's lock.
 */
void hp3v_ex_begin(struct hp3v_qp *q);
/* Begins a work request. Add the bytes of this work request to q->op_bytes. */
void hp3v_ex_op(struct hp3v_qp *q);
/* Builds a held request: makes the call for the request, and the call for its scatter list. */
void hp3v_ex_build(struct hp3v_qp *q, const struct hp3v_held_wr *held);
/* Returns the provider's result. If the result is not 0, the provider took no request of the
 * section. */
int hp3v_ex_end(struct hp3v_qp *q);
void hp3v_ex_abort(struct hp3v_qp *q);
