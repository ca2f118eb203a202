/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A fake RNIC for tests of libhp3verbs.so. The libibverbs.so.1 of these tests calls its provider.
 * The RNIC records the work requests that leave, with their ports. A work request is acknowledged
 * `delay_ns` after it left; its completion is then ready to be polled. As in Soft-RoCE, the queue
 * pair drains in SQD, and after SQD -> RTS no work request leaves until a doorbell (a post, or a
 * kick to cmd_fd).
 */
#define FAKE_LOG 400000u

struct fake_sent {
	uint64_t wr_id;
	uint16_t port;
	uint16_t opcode;
	uint32_t bytes;
	uint64_t sum; /* sum of the bytes of inline data */
};

struct fake_wr {
	struct fake_sent sent;
	uint64_t left_ns; /* when it left; 0: it has not left */
	bool signalled;
};

struct fake_qp {
	struct ibv_qp_ex ex; /* first: the queue pair itself */
	pthread_mutex_t lock;
	struct fake_qp *next;
	enum ibv_qp_state state; /* of the RNIC; ex.qp_base.state is what libibverbs wrote last */
	uint32_t depth, sges, inlines;
	bool sig_all, in_section, idle; /* idle: waits for a doorbell */
	uint16_t port;
	uint16_t rtr_port; /* since RTR */
	const uint32_t *paths; /* paths of fabric.h; NULL: no fabric */
	uint32_t mask; /* attribute mask of the last modify_qp() */
	struct fake_wr *queue; /* ring: [tail, sent) left, [sent, head) wait */
	uint32_t tail, acked, sent, head, built;
	struct ibv_wc *cqes;
	uint32_t *freed; /* up to where a polled completion frees the queue */
	uint32_t cq_tail, cq_head;
	uint64_t broken_at; /* error in between: so many may still leave; 0: none */

	/* For the tests. */
	struct fake_sent *log;
	uint32_t logged, kicks;
	uint32_t overtaken; /* the port changed at once with unacknowledged packets in flight */
	uint32_t drained_events;
	bool draining; /* in SQD, as far as it has noticed */
};

/* Faults: the errno that a call returns; 0: the call works. */
struct fake_faults {
	int sport, sqd, turn;
	int rtr; /* the change to RTR */
	int rts; /* 0: EINVAL while the queue pair drains, as in Soft-RoCE; else always */
	int post; /* post_send() fails after `post_after` more posts */
	uint32_t post_after;
	bool stuck; /* no work request is acknowledged */
	uint64_t delay_ns;
	bool late; /* unsignalled posts wait before the provider's lock */
	bool no_room; /* the queue counts as full for the current post */
	void (*refused)(struct ibv_qp_ex *ex); /* called when wr_complete() has released its lock */
};

struct fake_device;
struct fake_calls {
	struct ibv_context *(*open)(struct fake_device *device);
	int (*close)(struct ibv_context *context);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
};

struct fake_device {
	struct ibv_device device;
	const struct fake_calls *calls;
	struct fake_faults faults; /* atomic loads and stores */
	uint32_t qpn; /* QPN of its first queue pair */
};

/* Each provider is a library that defines this function. */
struct fake_device *fake_device(const char *name);
/* The queue pair's connection breaks now. */
void fake_break(struct fake_qp *q);
