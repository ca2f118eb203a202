/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/hold.h"
#include "app/clock.h"
#include "app/verbs/account.h"
#include "app/verbs/shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hp3v_held *hp3v_held_new(const struct ibv_qp_cap *cap)
{
	uint32_t max = cap->max_send_wr < HP3V_HELD_MAX ? cap->max_send_wr : HP3V_HELD_MAX;
	uint32_t sges = cap->max_send_sge > 0 ? cap->max_send_sge : 1u;
	size_t each =
		sizeof(struct hp3v_held_wr) + sges * sizeof(struct ibv_sge) + cap->max_inline_data;
	struct hp3v_held *held = calloc(1, sizeof(*held) + max * each);

	if (held == NULL)
		return NULL;
	held->max = max;
	held->sges = sges;
	held->bytes = cap->max_inline_data;
	held->ones = (struct hp3v_held_wr *)(held + 1);
	held->sge = (struct ibv_sge *)(held->ones + max);
	held->data = (char *)(held->sge + (size_t)max * sges);
	return held;
}

static uint64_t outstanding_wrs(const struct hp3v_qp *q)
{
	return hp3v_get(&q->cell->posted_wrs) - hp3v_get(&q->cell->done_wrs);
}

bool hp3v_held_is_full(const struct hp3v_qp *q)
{
	return q->held->count + outstanding_wrs(q) >= q->cap.max_send_wr;
}

struct hp3v_held_wr *hp3v_held_add(struct hp3v_qp *q, bool ex, bool first)
{
	struct hp3v_held *h = q->held;
	struct hp3v_held_wr *one;

	if (h->count == h->max || hp3v_held_is_full(q))
		return NULL;
	one = &h->ones[h->count];
	memset(one, 0, sizeof(*one));
	one->ex = ex;
	one->first = first;
	one->wr.sg_list = &h->sge[(size_t)h->count * h->sges];
	h->count++;
	return one;
}

struct ibv_sge *hp3v_held_sges(struct hp3v_qp *q, uint32_t n)
{
	struct ibv_send_wr *wr = &q->held->ones[q->held->count - 1u].wr;

	if (n > q->held->sges)
		return NULL;
	wr->num_sge = (int)n;
	return wr->sg_list;
}

char *hp3v_held_inline(struct hp3v_qp *q, uint64_t bytes)
{
	struct hp3v_held *h = q->held;
	struct ibv_send_wr *wr = &h->ones[h->count - 1u].wr;
	char *data = h->data + (size_t)(h->count - 1u) * h->bytes;

	if (bytes > h->bytes)
		return NULL;
	wr->num_sge = 1;
	wr->sg_list[0] = (struct ibv_sge){(uintptr_t)data, (uint32_t)bytes, 0};
	wr->send_flags |= IBV_SEND_INLINE;
	return data;
}

/* Copies a request to the pool. False: it cannot be held (SEND_WITH_INV is the last operation of a
 * reliable connection that can), or there is no room. */
static bool copy_request(struct hp3v_qp *q, const struct ibv_send_wr *wr)
{
	struct hp3v_held *h = q->held;
	struct hp3v_held_wr *held;
	struct ibv_sge *sge;
	uint64_t bytes;
	char *data;

	if (wr->opcode > IBV_WR_SEND_WITH_INV || wr->num_sge < 0 || (uint32_t)wr->num_sge > h->sges)
		return false;
	bytes = hp3v_bytes_of_list(wr);
	if ((wr->send_flags & IBV_SEND_INLINE) && bytes > h->bytes)
		return false;
	held = hp3v_held_add(q, false, false);
	if (held == NULL)
		return false;
	sge = held->wr.sg_list;
	held->wr = *wr;
	held->wr.next = NULL;
	held->wr.sg_list = sge;
	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		for (int i = 0; i < wr->num_sge; i++)
			sge[i] = wr->sg_list[i];
		return true;
	}
	data = hp3v_held_inline(q, bytes);
	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(data, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		data += wr->sg_list[i].length;
	}
	return true;
}

void hp3v_hold_close(struct hp3v_qp *q)
{
	q->hold = HP3V_CLOSING;
	__atomic_fetch_or(&q->gate, HP3V_SLOW, __ATOMIC_ACQ_REL);
}

void hp3v_hold_try(struct hp3v_qp *q)
{
	if (q->hold == HP3V_CLOSING && hp3v_is_closed(q))
		q->hold = HP3V_HELD;
}

/* Posts a chain to the provider. */
static int enter_and_post(struct hp3v_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct hp3v_sum sum = hp3v_sum(q, wr, NULL);
	uint64_t gate =
		__atomic_fetch_add(&q->gate, hp3v_gate_increment(sum.signalled), __ATOMIC_ACQ_REL);

	return hp3v_post_counted(q, q->qp, wr, bad, &sum, gate);
}

/* Posts requests of ibv_post_send() in a chain. Returns how many the provider took. */
static uint32_t post_chain(struct hp3v_qp *q, uint32_t from, uint32_t to, int *error)
{
	struct hp3v_held_wr *ones = q->held->ones;
	struct ibv_send_wr *bad = NULL;
	uint32_t taken = from;

	for (uint32_t i = from; i < to; i++)
		ones[i].wr.next = i + 1u < to ? &ones[i + 1u].wr : NULL;
	*error = enter_and_post(q, &ones[from].wr, &bad);
	if (*error == 0)
		return to - from;
	while (taken < to && &ones[taken].wr != bad)
		taken++;
	return taken - from;
}

/* Removes the first `n` requests. The others move up, with the data to which they point. */
static void move_up(struct hp3v_held *h, uint32_t n)
{
	for (uint32_t i = n; i < h->count; i++) {
		struct ibv_sge *sge = &h->sge[(size_t)(i - n) * h->sges];
		char *data = h->data + (size_t)(i - n) * h->bytes;
		struct ibv_send_wr *wr = &h->ones[i - n].wr;

		h->ones[i - n] = h->ones[i];
		memcpy(sge, wr->sg_list, h->sges * sizeof(*sge));
		wr->sg_list = sge;
		if (wr->send_flags & IBV_SEND_INLINE) {
			memcpy(data, (const void *)(uintptr_t)sge[0].addr, sge[0].length);
			sge[0].addr = (uintptr_t)data;
		}
	}
	h->count -= n;
}

static uint32_t run_of(const struct hp3v_held *h, uint32_t from)
{
	uint32_t to = from + 1u;

	while (to < h->count && h->ones[to].ex == h->ones[from].ex &&
		!(h->ones[from].ex && h->ones[to].first))
		to++;
	return to;
}

static int replay_requests(struct hp3v_qp *q, uint32_t from, uint32_t to)
{
	hp3v_ex_begin(q);
	for (uint32_t i = from; i < to; i++)
		hp3v_ex_build(q, &q->held->ones[i]);
	return hp3v_ex_end(q);
}

static void fail_qp(struct hp3v_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	hp3v_real()->modify_qp(q->qp, &attr, IBV_QP_STATE);
	__atomic_store_n(&q->failed, 1, __ATOMIC_RELEASE);
}

void hp3v_hold_drop(struct hp3v_qp *q)
{
	if (q->hold == HP3V_OPEN)
		return;
	q->held->count = 0;
	q->hold = HP3V_OPEN;
	__atomic_fetch_and(&q->gate, ~HP3V_SLOW, __ATOMIC_RELEASE);
}

bool hp3v_hold_release(struct hp3v_qp *q)
{
	struct hp3v_held *h = q->held;
	uint32_t from = 0, to;
	int error = 0;

	if (q->hold == HP3V_OPEN)
		return true;
	while (from < h->count && error == 0) {
		to = run_of(h, from);
		if (!h->ones[from].ex)
			from += post_chain(q, from, to, &error);
		else {
			error = replay_requests(q, from, to);
			from = error == 0 ? to : from;
		}
	}
	move_up(h, from);
	if (error == ENOMEM)
		return false;
	if (error != 0)
		fail_qp(q);
	hp3v_hold_drop(q); /* only a queue pair in error still holds requests */
	return true;
}

/* hp3d has written RESUME. The agent has not read it, because the caller has the lock. */
static bool is_resumed(const struct hp3v_qp *q)
{
	uint64_t want = __atomic_load_n(&q->cell->want, __ATOMIC_ACQUIRE);

	return hp3_verbs_unpack_code(want) == HP3_VERBS_RESUME &&
	       hp3_verbs_unpack_generation(want) == q->cell->generation;
}

bool hp3v_hold_give_up(struct hp3v_qp *q)
{
	const struct timespec nap = {0, 100000};

	while (q->op == HP3_VERBS_HOLD && q->step == HP3V_SUSPENDED && !is_resumed(q) &&
		hp3_clock_ns(CLOCK_MONOTONIC) < q->deadline)
		nanosleep(&nap, NULL);
	return hp3v_hold_release(q);
}

bool hp3v_hold_post(
	struct hp3v_qp *q, struct ibv_send_wr **wr, struct ibv_send_wr **bad, int *error)
{
	bool done = true;

	pthread_mutex_lock(&q->lock);
	*error = 0;
	if (q->hold == HP3V_CLOSING) {
		*error = enter_and_post(q, *wr, bad);
		hp3v_hold_try(q);
	} else if (q->hold == HP3V_HELD) {
		while (*wr != NULL && copy_request(q, *wr))
			*wr = (*wr)->next;
		if (*wr != NULL && !hp3v_held_is_full(q) && hp3v_hold_give_up(q))
			done = false;
		else if (*wr != NULL) {
			*error = ENOMEM;
			*bad = *wr;
		}
	} else
		done = false;
	pthread_mutex_unlock(&q->lock);
	return done;
}
