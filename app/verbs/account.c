/* SPDX-License-Identifier: BSD-3-Clause */
/* What completions say of a queue pair. */
#include "app/verbs/account.h"

static unsigned int class_of(uint32_t bytes)
{
	return bytes <= 4096u ? 0u : bytes <= 65536u ? 1u : bytes <= 1048576u ? 2u : 3u;
}

static void take_sample(struct hp3v_qp *q, uint32_t newest)
{
	struct hp3_verbs_cell *c = q->cell;
	uint32_t at = __atomic_load_n(&q->sample_at, __ATOMIC_RELAXED);
	uint32_t bytes = __atomic_load_n(&q->sample_bytes, __ATOMIC_RELAXED), *least;
	uint64_t ns;

	if ((int32_t)(newest - at) < 0)
		return;
	ns = hp3v_now() - hp3v_get(&q->sample_ns);
	ns = ns > UINT32_MAX ? UINT32_MAX : ns;
	least = &c->latency_min_ns[class_of(bytes)];
	__atomic_store_n(&c->latency_ns, (uint32_t)ns, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_queued, __atomic_load_n(&q->sample_queued, __ATOMIC_RELAXED),
		__ATOMIC_RELAXED);
	__atomic_store_n(&c->latency_count, c->latency_count + 1u, __ATOMIC_RELEASE);
	if (__atomic_load_n(least, __ATOMIC_RELAXED) - 1u >= ns) /* 0: none yet */
		__atomic_store_n(least, (uint32_t)ns, __ATOMIC_RELAXED);
	__atomic_store_n(&q->sampling, 0, __ATOMIC_RELEASE);
}

/*
 * The record may have been given to another queue pair since it was found: its life, which is part
 * of the word that is replaced, is then another one.
 */
void hp3v_completed(struct ibv_context *context, uint32_t qpn, uint32_t n)
{
	struct hp3v_qp *q = hp3v_qp_of(context, qpn);
	struct hp3v_entry last;
	uint64_t was, now;

	if (q == NULL)
		return;
	was = __atomic_load_n(&q->done, __ATOMIC_ACQUIRE);
	do {
		if (!hp3v_is(&q->key, context, qpn))
			return;
		now = (was & ~(uint64_t)UINT32_MAX) | (uint32_t)((uint32_t)was + n);
		last.wrs = hp3v_get(&q->entries[((uint32_t)now - 1u) & q->mask].wrs);
		last.bytes = hp3v_get(&q->entries[((uint32_t)now - 1u) & q->mask].bytes);
	} while (!__atomic_compare_exchange_n(
		&q->done, &was, now, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	hp3v_set(&q->done_wrs, last.wrs);
	hp3v_set(&q->cell->done_wrs, last.wrs);
	hp3v_set(&q->cell->done_bytes, last.bytes);
	if (__atomic_load_n(&q->sampling, __ATOMIC_ACQUIRE) == 1)
		take_sample(q, (uint32_t)now - 1u);
}

void hp3v_went_wrong(struct ibv_context *context, uint32_t qpn)
{
	struct hp3v_qp *q = hp3v_qp_of(context, qpn);

	if (q != NULL)
		__atomic_store_n(&q->failed, 1, __ATOMIC_RELEASE);
}

static int32_t outstanding(const struct hp3v_qp *q, uint64_t gate)
{
	return (int32_t)((uint32_t)(gate >> HP3V_SIGNALLED) -
			 (uint32_t)__atomic_load_n(&q->done, __ATOMIC_ACQUIRE));
}

bool hp3v_is_closed(const struct hp3v_qp *q)
{
	uint64_t gate = __atomic_load_n(&q->gate, __ATOMIC_ACQUIRE);
	uint32_t signalled = (uint32_t)(gate >> HP3V_SIGNALLED);
	uint32_t unsure = __atomic_load_n(&q->unsure, __ATOMIC_RELAXED);

	return (gate & HP3V_INSIDE) == 0 && !__atomic_load_n(&q->tail_open, __ATOMIC_RELAXED) &&
	       (q->sig_all || unsure == 0 || (int32_t)(signalled - unsure) > 0);
}

bool hp3v_is_drained(const struct hp3v_qp *q)
{
	return hp3v_is_closed(q) &&
	       outstanding(q, __atomic_load_n(&q->gate, __ATOMIC_ACQUIRE)) == 0;
}

bool hp3v_is_foreign(const struct hp3v_qp *q)
{
	return outstanding(q, __atomic_load_n(&q->gate, __ATOMIC_ACQUIRE)) < 0;
}

#define FAR (UINT32_C(1) << 30)

void hp3v_grow_older(struct hp3v_qp *q)
{
	uint32_t signalled =
		(uint32_t)(__atomic_load_n(&q->gate, __ATOMIC_RELAXED) >> HP3V_SIGNALLED);
	uint32_t unsure = __atomic_load_n(&q->unsure, __ATOMIC_RELAXED);

	if (unsure != 0 && (int32_t)(signalled - unsure) > (int32_t)FAR)
		__atomic_compare_exchange_n(&q->unsure, &unsure, signalled - FAR / 2u, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
