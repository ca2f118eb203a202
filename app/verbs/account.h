/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_ACCOUNT_H
#define HP3_VERBS_ACCOUNT_H

#include "app/verbs/table.h"

/*
 * What is outstanding on a queue pair. A completion stands for all work requests of its queue pair
 * that were posted before it, so signalled ones are counted, when posted and when polled; the
 * queue is empty once both counts are equal and the newest one is signalled. Where threads post on
 * one queue pair at the same time, the order of the provider may not be the order counted here;
 * then only a signalled one that was posted later, by one thread alone, says that all before it is
 * done. All is exact but the sums of bytes and work requests, which such threads may spoil.
 */
struct hp3v_sum {
	uint32_t wrs, signalled;
	bool open; /* the last one is unsignalled */
};

static inline bool hp3v_signalled(const struct hp3v_qp *q, unsigned int flags)
{
	return q->sig_all || (flags & IBV_SEND_SIGNALED) != 0;
}

/* Of a chain, up to and without `end`. */
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

/* Posts and completions of one work request may be seen by two threads; these are plain otherwise.
 */
static inline void hp3v_set(uint64_t *at, uint64_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static inline uint64_t hp3v_get(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* One work request is being posted, with entry `at` if it is signalled. */
static inline void hp3v_posting(
	struct hp3v_qp *q, uint32_t wrs, uint64_t bytes, bool signalled, uint32_t at)
{
	uint64_t all = hp3v_get(&q->posted_bytes) + bytes, n = hp3v_get(&q->posted_wrs) + wrs;

	hp3v_set(&q->posted_wrs, n);
	hp3v_set(&q->posted_bytes, all);
	if (!signalled)
		return;
	hp3v_set(&q->entries[at & q->mask].wrs, n);
	hp3v_set(&q->entries[at & q->mask].bytes, all);
	if (__atomic_load_n(&q->sampling, __ATOMIC_ACQUIRE) == 0) {
		__atomic_store_n(&q->sample_at, at, __ATOMIC_RELAXED);
		__atomic_store_n(&q->sample_bytes, (uint32_t)bytes, __ATOMIC_RELAXED);
		__atomic_store_n(&q->sample_queued,
			(uint32_t)(all - hp3v_get(&q->cell->done_bytes)), __ATOMIC_RELAXED);
		hp3v_set(&q->sample_ns, hp3v_now());
		__atomic_store_n(&q->sampling, 1, __ATOMIC_RELEASE);
	}
}

/* A chain is being posted; its entries begin at `at`. */
static inline void hp3v_posting_all(struct hp3v_qp *q, const struct ibv_send_wr *wr, uint32_t at)
{
	for (; wr != NULL; wr = wr->next) {
		bool signalled = hp3v_signalled(q, wr->send_flags);
		uint64_t bytes = 0;

		for (int i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
		hp3v_posting(q, 1, bytes, signalled, at);
		at += signalled;
	}
}

/* The others did not go through: what was counted of them is taken back. */
static inline void hp3v_refused(struct hp3v_qp *q, const struct ibv_send_wr *bad)
{
	for (; bad != NULL; bad = bad->next) {
		uint64_t bytes = 0;

		for (int i = 0; i < bad->num_sge; i++)
			bytes += bad->sg_list[i].length;
		hp3v_set(&q->posted_wrs, hp3v_get(&q->posted_wrs) - 1u);
		hp3v_set(&q->posted_bytes, hp3v_get(&q->posted_bytes) - bytes);
	}
}

static inline void hp3v_show_posted(struct hp3v_qp *q)
{
	hp3v_set(&q->cell->posted_wrs, hp3v_get(&q->posted_wrs));
	hp3v_set(&q->cell->posted_bytes, hp3v_get(&q->posted_bytes));
}

/* Out of the gate; `refused` signalled ones were not taken. `alone`: nobody was inside before. */
static inline void hp3v_leave(struct hp3v_qp *q, bool alone, uint32_t refused)
{
	uint64_t gate = __atomic_load_n(&q->gate, __ATOMIC_RELAXED);

	if (!alone || (gate & HP3V_INSIDE) > 1u)
		hp3v_max(&q->unsure, (uint32_t)(gate >> HP3V_SIGNALLED));
	__atomic_fetch_sub(&q->gate, 1u + ((uint64_t)refused << HP3V_SIGNALLED), __ATOMIC_RELEASE);
}

/* A queue pair begins; `life`: of its record. */
static inline void hp3v_begin_counts(struct hp3v_qp *q, uint64_t life)
{
	hp3v_set(&q->posted_wrs, 0);
	hp3v_set(&q->posted_bytes, 0);
	hp3v_set(&q->done_wrs, 0);
	__atomic_store_n(&q->unsure, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&q->tail_open, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&q->sampling, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&q->failed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&q->done, life << 32, __ATOMIC_RELEASE);
}

/* Inside the gate since it was `gate`, with entries for `sum`; out of it afterwards. */
static inline int hp3v_post_counted(struct hp3v_qp *q, struct ibv_qp *qp, struct ibv_send_wr *wr,
	struct ibv_send_wr **bad, const struct hp3v_sum *sum, uint64_t gate)
{
	uint8_t was_open = __atomic_load_n(&q->tail_open, __ATOMIC_RELAXED);
	uint32_t refused = 0;
	int error;

	hp3v_posting_all(q, wr, (uint32_t)(gate >> HP3V_SIGNALLED));
	__atomic_store_n(&q->tail_open, sum->open, __ATOMIC_RELAXED);
	error = q->ctx->post_send(qp, wr, bad);
	if (__builtin_expect(error != 0, 0)) {
		struct hp3v_sum taken = hp3v_sum(q, wr, *bad);

		refused = sum->signalled - taken.signalled;
		hp3v_refused(q, *bad);
		/* nothing taken: what was last is last again; not so where others post: unsure */
		__atomic_store_n(
			&q->tail_open, taken.wrs == 0 ? was_open : taken.open, __ATOMIC_RELAXED);
	}
	hp3v_show_posted(q);
	hp3v_leave(q, (gate & HP3V_INSIDE) == 0, refused);
	return error;
}

/* `n` signalled ones of this queue pair completed. */
void hp3v_completed(struct ibv_context *context, uint32_t qpn, uint32_t n);
/* A completion with an error. */
void hp3v_went_wrong(struct ibv_context *context, uint32_t qpn);

/* Nobody is inside, and all that was posted has completed. */
bool hp3v_is_drained(const struct hp3v_qp *q);
/* Nobody is inside, and the newest one will complete for all before it. */
bool hp3v_is_closed(const struct hp3v_qp *q);
/* Now and then: what was unsure is not taken for news once the count has come round. */
void hp3v_grow_older(struct hp3v_qp *q);
/* More has completed than was posted here: somebody posts past this library. */
bool hp3v_is_foreign(const struct hp3v_qp *q);

#endif
