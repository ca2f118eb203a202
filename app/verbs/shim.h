/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_SHIM_H
#define HP3_VERBS_SHIM_H

#include "app/verbs/share.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

/*
 * What the parts of libhp3verbs.so share. Records of contexts, queue pairs and completion queues
 * are found without a lock (table.h), so their memory is never given back, only used again: who
 * polls may still look at one whose queue pair has just been destroyed.
 */

/* The real library: of IBVERBS_1.1, and what came later where it is there. */
struct hp3v_real {
	struct ibv_context *(*open_device)(struct ibv_device *device);
	struct ibv_context *(*import_device)(int fd);
	int (*close_device)(struct ibv_context *context);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*query_gid)(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);
	int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
	void (*ack_async_event)(struct ibv_async_event *event);
	struct ibv_qp_ex *(*qp_to_qp_ex)(struct ibv_qp *qp);
};
/* Loaded once; never NULL, but members may be. */
const struct hp3v_real *hp3v_real(void);

struct hp3v_key {
	const void *owner;
	uint32_t number;
};
#define HP3V_CONTEXT UINT32_MAX /* numbers of keys that are no QPN */
#define HP3V_CQ      (UINT32_MAX - 1u)

struct hp3v_ctx {
	struct hp3v_key key;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *c, struct ibv_qp_init_attr_ex *attr);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *c, struct ibv_cq_init_attr_ex *attr);
	struct ibv_td *(*alloc_td)(struct ibv_context *c, struct ibv_td_init_attr *attr);
	int (*udp_sport)(struct ibv_qp *qp, uint16_t port); /* the provider's; NULL: has none */
	uint8_t method; /* enum hp3_verbs_method: best one not refused so far; atomic */
	bool draws_otherwise; /* what it makes of a flow label of 0 is not known here */
	uint8_t unlocked; /* the provider leaves out locks: nobody else may post; atomic */
	struct hp3v_ctx *next;
};

/*
 * Of work requests posted, those that are signalled have an entry: what was posted up to it. They
 * complete in this order, one completion each.
 */
struct hp3v_entry {
	uint64_t wrs, bytes;
};

/*
 * The gate of a queue pair: how many threads are inside the provider's post_send (bits 0 to 23),
 * whether they have to take the slow way (24), how many signalled work requests there were (from
 * 32, modulo 2^32). One atomic addition enters, and takes entries; another one leaves.
 */
#define HP3V_INSIDE    UINT64_C(0xffffff)
#define HP3V_SLOW      (UINT64_C(1) << 24)
#define HP3V_SIGNALLED 32

enum hp3v_hold { HP3V_OPEN, HP3V_CLOSING, HP3V_HELD };
enum hp3v_step { HP3V_IDLE, HP3V_DRAINING, HP3V_SUSPENDED, HP3V_RETURNING };
enum hp3v_section {
	HP3V_NO_SECTION,
	HP3V_LIVE, /* by the provider */
	HP3V_LOCKED, /* as well, and the queue pair's lock is ours */
	HP3V_RECORDED, /* held; the lock is ours, here and in the next one */
	HP3V_REFUSED, /* the provider has no room: it ends with ENOMEM */
};

/* From post to completion: of one work request at a time, of those that are frequent 1 in many. */
enum hp3v_sampling {
	HP3V_NO_SAMPLE,
	HP3V_SAMPLING, /* it is posted */
	HP3V_SAMPLE_KEPT, /* by a thread that begins it or ends it */
};
#define HP3V_SAMPLE_EVERY 63u

struct hp3v_held; /* hold.h */

struct hp3v_qp {
	/* Read by who posts and who polls. */
	struct hp3v_key key;
	struct hp3v_ctx *ctx;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
	struct hp3_verbs_cell *cell; /* shared, or `own` */
	struct hp3v_entry *entries;
	uint32_t mask; /* entries - 1 */
	uint32_t sig_all; /* IBV_SEND_SIGNALED: all are; else 0 */

	/* Written by who posts. */
	uint64_t gate __attribute__((aligned(64)));
	uint32_t unsure; /* before this entry, order of posts and of entries may differ; atomic */
	uint8_t tail; /* 0: the last one posted is unsignalled; atomic */
	uint8_t sampling; /* enum hp3v_sampling; atomic */
	uint32_t sample_due; /* this entry, or the next one, is to be sampled; atomic */
	uint32_t sample_at; /* entry that is; atomic for who only looks */
	uint32_t sample_bytes, sample_queued, sample_every;
	uint64_t sample_ns, sampled_ns; /* posted; the one before was done */

	/* Written by who polls. */
	uint64_t done __attribute__((aligned(64))); /* life << 32 | signalled ones completed */
	uint8_t failed; /* a completion with an error: the queue pair is in error; atomic */

	/* Under `lock`, which who posts takes on the slow way only. */
	pthread_mutex_t lock __attribute__((aligned(64)));
	struct ibv_qp *qp; /* NULL: no queue pair */
	enum ibv_qp_state state; /* as the application made it */
	struct ibv_ah_attr av;
	uint32_t dest_qpn;
	unsigned int access;
	uint8_t responds_depth; /* max_dest_rd_atomic */
	struct ibv_qp_cap cap;
	enum hp3v_hold hold;
	struct hp3v_held *held;
	enum hp3v_step step; /* written under lock; atomic for who only looks */
	uint8_t method; /* of the move in hand */
	uint8_t op;
	uint16_t port; /* where to */
	uint16_t place; /* where to with RTS; 0: nowhere */
	bool placed; /* hp3d has said that it stays where it is */
	uint64_t want; /* newest command seen */
	uint64_t begun, deadline;

	/* The provider's extended calls, if it has them, and the section in hand (wr_ex.c). */
	struct ibv_qp_ex *ex, ops;
	enum hp3v_section section;
	uint32_t section_from; /* of what is held, the section's begins here */
	uint32_t built, built_signalled; /* in this section */
	uint64_t built_bytes, op_bytes;
	bool alone, op_begun, op_signalled;

	struct hp3_verbs_cell own;
	int index; /* of the shared cell; -1: none */
	struct hp3v_qp *next, *next_free;
};

struct hp3v_cq {
	struct hp3v_key key;
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cq);
	struct hp3v_cq *next_free;
};

uint64_t hp3v_now(void); /* CLOCK_MONOTONIC, ns */

#endif
