/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_HOLD_H
#define HP3_VERBS_HOLD_H

#include "app/verbs/shim.h"

/*
 * Work requests that wait while a queue pair is moved by its RNIC's udp_sport call, which takes
 * effect at once: all before must have completed, nothing may follow until it is done.
 *
 * CLOSING: posts go through, one at a time, until one is signalled: its completion stands for all.
 * HELD: they are copied, with scatter lists and inline data, and count as posted for the
 * application: more than the queue pair was made for is refused with ENOMEM, as the provider does.
 * The pool is made with the queue pair; what does not fit into it, or cannot be copied, ends the
 * hold: what is held is posted, in order, and the provider decides about the post itself. All of
 * this is under the queue pair's lock.
 */
#define HP3V_HELD_MAX 256u

/* A pool for a queue pair of these sizes. NULL: no memory, never held. */
struct hp3v_held *hp3v_held_new(const struct ibv_qp_cap *cap);
void hp3v_held_free(struct hp3v_held *held);
uint32_t hp3v_held_count(const struct hp3v_held *held);

/* From now on posts take the slow way. */
void hp3v_hold_close(struct hp3v_qp *q);
/* CLOSING, and nothing is missing: HELD. */
void hp3v_hold_try(struct hp3v_qp *q);
/*
 * What is held is posted, and posts go through again. False: the provider has no room now, all
 * that is left waits on; try again. What it refuses for good (which it would have refused of the
 * application) puts the queue pair in error.
 */
bool hp3v_hold_release(struct hp3v_qp *q);
/* The queue pair is destroyed or reset: what is held is gone like all that it had. */
void hp3v_hold_drop(struct hp3v_qp *q);

/*
 * A post that met HP3V_SLOW. True: it is done, *error is for the application. False: the way is
 * free again, post what *wr has now.
 */
bool hp3v_hold_post(
	struct hp3v_qp *q, struct ibv_send_wr **wr, struct ibv_send_wr **bad, int *error);

/*
 * Of extended calls (wr_ex.c), one after the other; under the lock from begin to end. NULL, of
 * each: no room.
 */
bool hp3v_held_is_full(const struct hp3v_qp *q); /* held or outstanding: all it was made for */
struct ibv_send_wr *hp3v_held_add(struct hp3v_qp *q, bool ex, bool first);
/* Of the newest one: `n` scatter entries, or space for inline data. */
struct ibv_sge *hp3v_held_sges(struct hp3v_qp *q, uint32_t n);
char *hp3v_held_inline(struct hp3v_qp *q, uint64_t bytes);
/* The newest ones are taken back, down to `count`. */
void hp3v_held_cut(struct hp3v_qp *q, uint32_t count);
/* Still there after a cut, until the next one is added. */
const struct ibv_send_wr *hp3v_held_at(const struct hp3v_qp *q, uint32_t i);

#endif
