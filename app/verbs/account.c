/* SPDX-License-Identifier: BSD-3-Clause */
/* Accounting of a queue pair's completions. */
#include "app/clock.h"
#include "app/verbs/account.h"

#define FAR      (UINT32_C(1) << 30) /* more than any valid difference of two counts */
#define OFTEN_NS UINT64_C(400000) /* by default, hp3d samples every millisecond */

static unsigned int class_of(uint32_t bytes)
{
	return bytes <= 4096u ? 0u : bytes <= 65536u ? 1u : bytes <= 1048576u ? 2u : 3u;
}

/*
 * The thread that sets `sampling` to HP3V_SAMPLE_KEPT owns the sample: two threads may post, or
 * poll, on one queue pair.
 */
static bool keep_sample(struct hp3v_qp *q, uint8_t was)
{
	return __atomic_compare_exchange_n(
		&q->sampling, &was, HP3V_SAMPLE_KEPT, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void hp3v_sample(struct hp3v_qp *q, uint32_t at, uint64_t bytes, uint64_t all)
{
	if (!keep_sample(q, HP3V_NO_SAMPLE))
		return;
	__atomic_store_n(&q->sample_at, at, __ATOMIC_RELAXED);
	q->sample_bytes = (uint32_t)bytes;
	q->sample_queued = (uint32_t)(all - hp3v_get(&q->cell->done_bytes));
	__atomic_store_n(&q->sample_due, at + FAR, __ATOMIC_RELAXED);
	q->sample_ns = hp3_clock_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&q->sampling, HP3V_SAMPLING, __ATOMIC_RELEASE);
}

/*
 * Sets how many work requests to skip until the next sample: hp3d reads samples seldom, and reading
 * the clock costs as much as all other accounting. The number is odd, so that if two kinds of
 * requests alternate, both are sampled.
 */
static void set_next_sample(struct hp3v_qp *q, uint64_t now)
{
	uint64_t since = now - q->sampled_ns;

	if (since < OFTEN_NS / 2u && q->sample_every < HP3V_SAMPLE_EVERY)
		q->sample_every = q->sample_every * 2u + 1u;
	else if (since > OFTEN_NS)
		q->sample_every = q->sample_every / 2u | 1u;
	q->sampled_ns = now;
	__atomic_store_n(&q->sample_due, q->sample_at + q->sample_every, __ATOMIC_RELAXED);
}

static void show_sample(const struct hp3v_qp *q, struct hp3_verbs_cell *c, uint64_t ns)
{
	uint32_t *least = &c->latency_min_ns[class_of(q->sample_bytes)];

	ns = ns > UINT32_MAX ? UINT32_MAX : ns;
	__atomic_store_n(&c->latency_ns, (uint32_t)ns, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_bytes, q->sample_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_queued, q->sample_queued, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_count, c->latency_count + 1u, __ATOMIC_RELEASE);
	if (__atomic_load_n(least, __ATOMIC_RELAXED) - 1u >= ns) /* 0: none yet */
		__atomic_store_n(least, (uint32_t)ns, __ATOMIC_RELAXED);
}

void hp3v_sample_seen(struct hp3v_qp *q, uint32_t newest)
{
	uint64_t now;

	if ((int32_t)(newest - __atomic_load_n(&q->sample_at, __ATOMIC_RELAXED)) < 0 ||
		!keep_sample(q, HP3V_SAMPLING))
		return;
	now = hp3_clock_ns(CLOCK_MONOTONIC);
	show_sample(q, q->cell, now - q->sample_ns);
	set_next_sample(q, now);
	__atomic_store_n(&q->sampling, HP3V_NO_SAMPLE, __ATOMIC_RELEASE);
}

uint64_t hp3v_bytes_of_list(const struct ibv_send_wr *wr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

void hp3v_begin_counts(struct hp3v_qp *q, uint64_t life)
{
	struct hp3_verbs_cell *c = q->cell;

	hp3v_set(&c->posted_wrs, 0);
	hp3v_set(&c->posted_bytes, 0);
	hp3v_set(&c->done_wrs, 0);
	hp3v_set(&c->done_bytes, 0);
	__atomic_store_n(&q->unsure, 0, __ATOMIC_RELAXED);
	hp3v_set_tail(q, IBV_SEND_SIGNALED);
	__atomic_store_n(&q->sampling, HP3V_NO_SAMPLE, __ATOMIC_RELAXED);
	__atomic_store_n(&q->sample_due, 0, __ATOMIC_RELAXED);
	q->sample_every = 1;
	__atomic_store_n(&q->failed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&q->done, life << 32, __ATOMIC_RELEASE);
}

/*
 * If the provider took no request, `tail` is still right, unless other threads post; `unsure`
 * covers that case.
 */
uint32_t hp3v_take_back(
	struct hp3v_qp *q, const struct ibv_send_wr *wr, const struct ibv_send_wr *bad)
{
	struct hp3v_sum sum = hp3v_sum(q, wr, NULL), taken = hp3v_sum(q, wr, bad);

	for (; bad != NULL; bad = bad->next)
		hp3v_unpost(q, 1, hp3v_bytes(bad));
	if (taken.wrs != 0)
		hp3v_set_tail(q, !taken.open);
	return sum.signalled - taken.signalled;
}

void hp3v_went_wrong(const struct ibv_context *context, uint32_t qpn)
{
	struct hp3v_qp *q = hp3v_qp_of(context, qpn);

	if (q != NULL)
		__atomic_store_n(&q->failed, 1, __ATOMIC_RELEASE);
}

static int32_t outstanding_signalled(const struct hp3v_qp *q)
{
	uint64_t gate = __atomic_load_n(&q->gate, __ATOMIC_ACQUIRE);

	return (int32_t)((uint32_t)(gate >> HP3V_SIGNALLED) -
			 (uint32_t)__atomic_load_n(&q->done, __ATOMIC_ACQUIRE));
}

bool hp3v_is_closed(const struct hp3v_qp *q)
{
	uint64_t gate = __atomic_load_n(&q->gate, __ATOMIC_ACQUIRE);
	uint32_t signalled = (uint32_t)(gate >> HP3V_SIGNALLED);
	uint32_t unsure = __atomic_load_n(&q->unsure, __ATOMIC_RELAXED);

	return (gate & HP3V_INSIDE) == 0 && __atomic_load_n(&q->tail, __ATOMIC_RELAXED) != 0 &&
	       (q->sig_all != 0 || unsure == 0 || (int32_t)(signalled - unsure) > 0);
}

bool hp3v_is_drained(const struct hp3v_qp *q)
{
	return hp3v_is_closed(q) && outstanding_signalled(q) == 0;
}

bool hp3v_is_foreign(const struct hp3v_qp *q)
{
	return outstanding_signalled(q) < 0;
}

void hp3v_grow_older(struct hp3v_qp *q)
{
	uint32_t signalled =
		(uint32_t)(__atomic_load_n(&q->gate, __ATOMIC_RELAXED) >> HP3V_SIGNALLED);
	uint32_t unsure = __atomic_load_n(&q->unsure, __ATOMIC_RELAXED);

	if (unsure != 0 && (int32_t)(signalled - unsure) > (int32_t)FAR)
		__atomic_compare_exchange_n(&q->unsure, &unsure, signalled - FAR / 2u, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
