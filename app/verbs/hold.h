/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Holds work requests of a queue pair that moves by the udp_sport call of its RNIC. The udp_sport
 * call takes effect at once. So earlier work requests must have completed before the call, and
 * later work requests must wait until the call returns.
 *
 * CLOSING: posts go to the provider, one at a time, until one is signalled. The completion of this
 * signalled work request covers all work requests before it. HELD: this library copies posts, with
 * scatter lists and inline data, and reports success to the application. Like the provider, it
 * refuses requests beyond the queue pair's max_send_wr with ENOMEM. The pool is allocated with the
 * queue pair. A post that does not fit into the pool, or cannot be copied, ends the hold. The
 * library then posts the held requests in order, and passes the new post to the provider.
 *
 * Callers hold the queue pair's lock. Exception: hp3v_hold_post() takes the lock itself.
 */
#include "app/verbs/wr_call.h"

#define HP3V_HELD_MAX 256u

struct hp3v_held_wr {
	struct ibv_send_wr wr; /* with `ex`: only wr_id, flags and scatter list are used */
	bool ex, first; /* ex: posted by extended calls; first: the first request of a section */
	struct hp3v_call call; /* used only with `ex` */
};

/* Requests are valid even after `count` was lowered, until the next request is added. */
struct hp3v_held {
	uint32_t max, count, sges, bytes; /* sges, bytes: space of each request */
	struct hp3v_held_wr *ones;
	struct ibv_sge *sge;
	char *data;
};

/* Allocates a pool for a queue pair of these sizes. The caller frees the pool. NULL: no memory;
 * then the queue pair's requests are never held. */
struct hp3v_held *hp3v_held_new(const struct ibv_qp_cap *cap);

/* Begins CLOSING: from now on, posts take the slow path. */
void hp3v_hold_close(struct hp3v_qp *q);
/* CLOSING becomes HELD if hp3v_is_closed(). */
void hp3v_hold_try(struct hp3v_qp *q);
/*
 * Posts held requests; afterwards, posts go to the provider again. False: the provider has no room
 * now, and the remaining requests stay held; try again. If the provider refuses a request for
 * another reason (as it would have refused the application's post), the queue pair enters the error
 * state.
 */
bool hp3v_hold_release(struct hp3v_qp *q);
/*
 * As hp3v_hold_release(), for a post that does not fit. If posts are held for a move of the peer's
 * queue pair (command HOLD), it first waits, with the lock, for RESUME or for the end of the hold.
 */
bool hp3v_hold_give_up(struct hp3v_qp *q);
/* Drops held requests. Call it when the queue pair is destroyed or reset. */
void hp3v_hold_drop(struct hp3v_qp *q);

/*
 * Handles a post that found HP3V_SLOW set. True: the post is done; return *error to the
 * application. False: the hold has ended; post the rest of the chain, *wr, to the provider.
 */
bool hp3v_hold_post(
	struct hp3v_qp *q, struct ibv_send_wr **wr, struct ibv_send_wr **bad, int *error);

/*
 * The next functions are for extended calls (wr_ex.c). The caller holds the lock from begin to end
 * of a section. Functions that return a pointer return NULL if there is no room.
 */
/* held plus outstanding requests have reached max_send_wr */
bool hp3v_held_is_full(const struct hp3v_qp *q);
struct hp3v_held_wr *hp3v_held_add(struct hp3v_qp *q, bool ex, bool first);
/* Space in the newest request for `n` scatter entries, or for inline data. */
struct ibv_sge *hp3v_held_sges(struct hp3v_qp *q, uint32_t n);
char *hp3v_held_inline(struct hp3v_qp *q, uint64_t bytes);
