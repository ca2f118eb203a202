/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Counts the work requests that are outstanding on a queue pair. A completion covers all work
 * requests of the queue pair that were posted before its own work request. So this library counts
 * signalled work requests when they are posted, and completions when they are polled. The send
 * queue is empty once both counts are equal and the newest work request is signalled.
 *
 * If threads post on one queue pair at the same time, the provider's order may differ from the
 * order counted here. Then the completions of these work requests do not prove that earlier work
 * requests are done. The proof is the completion of a later signalled work request that was posted
 * while no other thread posted. The counts of signalled work requests are exact. The sums of bytes
 * and of all work requests may be wrong if threads post at the same time.
 */
#include "app/verbs/table.h"

struct hp3v_sum {
	uint32_t wrs, signalled;
	bool open; /* the last work request is unsignalled */
};

/* IBV_SEND_SIGNALED or 0 */
static inline uint32_t hp3v_signal_of(const struct hp3v_qp *q, unsigned int flags)
{
	return (flags | q->sig_all) & IBV_SEND_SIGNALED;
}

static inline bool hp3v_signalled(const struct hp3v_qp *q, unsigned int flags)
{
	return hp3v_signal_of(q, flags) != 0;
}

/* Sums a chain, up to and excluding `end`. */
static inline struct hp3v_sum hp3v_sum(
	const struct hp3v_qp *q, const struct ibv_send_wr *wr, const struct ibv_send_wr *end)
{
	struct hp3v_sum sum = {0};

	for (; wr != end; wr = wr->next) {
		bool signalled = hp3v_signalled(q, wr->send_flags);

		sum.wrs++;
		sum.signalled += signalled;
		sum.open = !signalled;
	}
	return sum;
}

static inline void hp3v_max(uint32_t *at, uint32_t value)
{
	uint32_t was = __atomic_load_n(at, __ATOMIC_RELAXED);

	while ((int32_t)(value - was) > 0 && !__atomic_compare_exchange_n(at, &was, value, true,
						     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The accesses are atomic, because two threads may handle the post and the completion of one work
 * request. */
static inline void hp3v_set(uint64_t *at, uint64_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static inline uint64_t hp3v_get(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

uint64_t hp3v_bytes_of_list(const struct ibv_send_wr *wr);

static inline uint64_t hp3v_bytes(const struct ibv_send_wr *wr)
{
	return __builtin_expect(wr->num_sge == 1, 1) ? wr->sg_list->length : hp3v_bytes_of_list(wr);
}

/*
 * Begins a sample of entry `at` unless another sample is in progress. `all`: posted_bytes,
 * including this entry.
 */
void hp3v_sample(struct hp3v_qp *q, uint32_t at, uint64_t bytes, uint64_t all);

static inline bool hp3v_is_due(const struct hp3v_qp *q, uint32_t at)
{
	return (int32_t)(at - __atomic_load_n(&q->sample_due, __ATOMIC_RELAXED)) >= 0;
}

static inline void hp3v_enter(struct hp3v_qp *q, uint32_t at, uint64_t wrs, uint64_t bytes)
{
	struct hp3v_entry *entry = &q->entries[at & q->mask];

	hp3v_set(&entry->wrs, wrs);
	hp3v_set(&entry->bytes, bytes);
}

/* One work request is being posted, with entry `at` if it is signalled. */
static inline void hp3v_posting(struct hp3v_qp *q, uint64_t bytes, bool signalled, uint32_t at)
{
	struct hp3_verbs_cell *c = q->cell;
	uint64_t all = hp3v_get(&c->posted_bytes) + bytes, n = hp3v_get(&c->posted_wrs) + 1u;

	hp3v_set(&c->posted_wrs, n);
	hp3v_set(&c->posted_bytes, all);
	if (!signalled)
		return;
	hp3v_enter(q, at, n, all);
	if (hp3v_is_due(q, at))
		hp3v_sample(q, at, bytes, all);
}

/* Records a chain that is being posted; its entries begin at `at`. */
static inline void hp3v_posting_all(struct hp3v_qp *q, const struct ibv_send_wr *wr, uint32_t at)
{
	for (; wr != NULL; wr = wr->next) {
		bool signalled = hp3v_signalled(q, wr->send_flags);

		hp3v_posting(q, hp3v_bytes(wr), signalled, at);
		at += signalled;
	}
}

/* Removes work requests that the provider refused from the sums. */
static inline void hp3v_unpost(struct hp3v_qp *q, uint64_t wrs, uint64_t bytes)
{
	struct hp3_verbs_cell *c = q->cell;

	hp3v_set(&c->posted_wrs, hp3v_get(&c->posted_wrs) - wrs);
	hp3v_set(&c->posted_bytes, hp3v_get(&c->posted_bytes) - bytes);
}

/* Stores whether the last posted work request is signalled (q->tail). */
static inline void hp3v_set_tail(struct hp3v_qp *q, uint32_t signalled)
{
	__atomic_store_n(&q->tail, (uint8_t)signalled, __ATOMIC_RELAXED);
}

/* What a thread adds to the gate when it enters, to allocate `signalled` entries. */
static inline uint64_t hp3v_gate_increment(uint32_t signalled)
{
	return 1u + ((uint64_t)signalled << HP3V_SIGNALLED);
}

/*
 * Makes the thread leave the provider's post_send (hp3v_qp.gate). `refused`: number of signalled
 * work requests that the provider did not take. `alone`: no other thread was inside when this
 * thread entered.
 */
static inline void hp3v_leave(struct hp3v_qp *q, bool alone, uint32_t refused)
{
	uint64_t gate = __atomic_load_n(&q->gate, __ATOMIC_RELAXED);

	if (!alone || (gate & HP3V_INSIDE) > 1u)
		hp3v_max(&q->unsure, (uint32_t)(gate >> HP3V_SIGNALLED));
	__atomic_fetch_sub(&q->gate, hp3v_gate_increment(refused), __ATOMIC_RELEASE);
}

/* Resets the counts for a new queue pair. `life`: how often the record has been used. */
void hp3v_begin_counts(struct hp3v_qp *q, uint64_t life);

/*
 * Call it when the provider took only the work requests before `bad`. Returns the number of
 * signalled work requests that the provider refused.
 */
uint32_t hp3v_take_back(
	struct hp3v_qp *q, const struct ibv_send_wr *wr, const struct ibv_send_wr *bad);

/*
 * Posts a chain. Before the call, the thread has entered through hp3v_qp.gate, and has allocated
 * the entries of `sum`. `gate`: value of hp3v_qp.gate before the thread entered. This function
 * makes the thread leave.
 */
static inline int hp3v_post_counted(struct hp3v_qp *q, struct ibv_qp *qp, struct ibv_send_wr *wr,
	struct ibv_send_wr **bad, const struct hp3v_sum *sum, uint64_t gate)
{
	uint32_t refused = 0;
	int error;

	hp3v_posting_all(q, wr, (uint32_t)(gate >> HP3V_SIGNALLED));
	error = q->post_send(qp, wr, bad);
	if (__builtin_expect(error != 0, 0))
		refused = hp3v_take_back(q, wr, *bad);
	else
		hp3v_set_tail(q, !sum->open);
	hp3v_leave(q, (gate & HP3V_INSIDE) == 0, refused);
	return error;
}

/* Ends the sample if entry `newest`, which has completed, is the sampled entry or a later entry. */
void hp3v_sample_seen(struct hp3v_qp *q, uint32_t newest);

/*
 * Counts `n` completed signalled work requests of this queue pair. Meanwhile, another thread may
 * reuse the record for another queue pair. Then the record's life (a part of the word `done`)
 * changes. So the compare and exchange fails, and the loop repeats the look-up.
 */
static inline __attribute__((always_inline)) void hp3v_completed(
	const struct ibv_context *context, uint32_t qpn, uint32_t n)
{
	uint32_t i = hp3v_slot(context, qpn);
	const struct hp3v_entry *last;
	struct hp3_verbs_cell *c;
	struct hp3v_qp *q;
	uint64_t was, wrs, bytes;

	for (;;) {
		q = __atomic_load_n(&hp3v_qps[i], __ATOMIC_ACQUIRE);
		if (q == NULL)
			return;
		was = __atomic_load_n(&q->done, __ATOMIC_ACQUIRE);
		if (__builtin_expect(!hp3v_is(&q->key, context, qpn), 0)) {
			i = hp3v_next(i);
			continue;
		}
		last = &q->entries[((uint32_t)was + n - 1u) & q->mask];
		wrs = hp3v_get(&last->wrs);
		bytes = hp3v_get(&last->bytes);
		/* a carry after 2^32 changes the life, which is harmless */
		if (__builtin_expect(__atomic_compare_exchange_n(&q->done, &was, was + n, false,
					     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED),
			    1))
			break;
	}
	c = q->cell;
	hp3v_set(&c->done_wrs, wrs);
	hp3v_set(&c->done_bytes, bytes);
	if (__atomic_load_n(&q->sampling, __ATOMIC_ACQUIRE) == HP3V_SAMPLING)
		hp3v_sample_seen(q, (uint32_t)was + n - 1u);
}
/* Marks the queue pair as failed, after a completion with an error. */
void hp3v_went_wrong(const struct ibv_context *context, uint32_t qpn);

/* Is no thread inside the provider's post_send, and have all posted work requests completed? */
bool hp3v_is_drained(const struct hp3v_qp *q);
/*
 * Is no thread inside the provider's post_send, and will the completion of the newest work request
 * cover all work requests before it?
 */
bool hp3v_is_closed(const struct hp3v_qp *q);
/*
 * Call it from time to time. Without it, an old value of `unsure` would seem recent when the count
 * wraps.
 */
void hp3v_grow_older(struct hp3v_qp *q);
/* Have more signalled work requests completed than were posted? Then posts bypass this library. */
bool hp3v_is_foreign(const struct hp3v_qp *q);
