/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_VERBS_FAKE_H
#define HP3_TESTS_VERBS_FAKE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A fake RNIC for libhp3verbs.so; libibverbs.so.1 of these tests calls its provider. It records the
 * work requests that leave, with their ports. A work request is acknowledged `delay_ns` after it
 * left; its completion waits until it is polled. As in Soft-RoCE, SQD drains, and after SQD -> RTS
 * nothing leaves until a doorbell (a post, or the kick to cmd_fd).
 */
#define FAKE_LOG 400000u

struct fake_sent {
	uint64_t wr_id;
	uint16_t port;
	uint16_t opcode;
	uint32_t bytes;
	uint64_t sum; /* of the bytes of inline data */
};

struct fake_wr {
	struct fake_sent sent;
	uint64_t left_ns; /* 0: not yet */
	bool signalled;
};

struct fake_qp {
	struct ibv_qp_ex ex; /* first: the queue pair itself */
	pthread_mutex_t lock;
	struct fake_qp *next;
	uint32_t depth, sges, inlines;
	bool sig_all, in_section, idle; /* idle: wants a doorbell */
	uint16_t port;
	const uint32_t *paths; /* of the fabric; NULL: there is none */
	uint32_t mask; /* attributes of the newest change */
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

/* Faults: an errno that the call returns, 0: none. */
struct fake_faults {
	int sport, sqd, turn;
	int rts; /* EINVAL while it drains, like Soft-RoCE, unless it is set: always */
	int post; /* post_send(), after `post_after` more */
	uint32_t post_after;
	bool stuck; /* nothing is acknowledged */
	uint64_t delay_ns;
	bool late; /* unsignalled ones wait before the provider's lock */
	bool no_room; /* the queue is full for who posts now */
	void (*refused)(
		struct ibv_qp_ex *ex); /* called when wr_complete() has let go of its lock */
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
	uint32_t qpn; /* of its first queue pair */
};

/* Each provider is a library that has this. */
struct fake_device *fake_device(const char *name);
/* The queue pair's connection breaks now. */
void fake_break(struct fake_qp *q);

#endif
