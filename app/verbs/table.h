/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the record of a QPN in a context (hp3v_qps), and of a context or an extended completion
 * queue (hp3v_others). There are two tables, so that hp3v_qps has only records of queue
 * pairs. Look-ups need no lock; one thread at a time inserts and removes (hp3v_lock()).
 */
#include "app/verbs/shim.h"

#define HP3V_TABLE 65536u /* the hash is the upper half of 32 bits */

extern struct hp3v_qp *hp3v_qps[HP3V_TABLE];
extern struct hp3v_key *hp3v_others[HP3V_TABLE];

static inline uint32_t hp3v_slot(const void *owner, uint32_t number)
{
	return ((uint32_t)((uintptr_t)owner >> 4) * 0x85ebca6bu + number * 0x9e3779b1u) >> 16;
}

static inline uint32_t hp3v_next(uint32_t i)
{
	return (i + 1u) & (HP3V_TABLE - 1u);
}

static inline bool hp3v_is(const struct hp3v_key *key, const void *owner, uint32_t number)
{
	return __atomic_load_n(&key->owner, __ATOMIC_RELAXED) == owner &&
	       __atomic_load_n(&key->number, __ATOMIC_RELAXED) == number;
}

static inline void *hp3v_find(const void *owner, uint32_t number)
{
	for (uint32_t i = hp3v_slot(owner, number);; i = hp3v_next(i)) {
		struct hp3v_key *key = __atomic_load_n(&hp3v_others[i], __ATOMIC_ACQUIRE);

		if (key == NULL || hp3v_is(key, owner, number))
			return key;
	}
}

static inline struct hp3v_qp *hp3v_qp_of(const struct ibv_context *context, uint32_t qpn)
{
	for (uint32_t i = hp3v_slot(context, qpn);; i = hp3v_next(i)) {
		struct hp3v_qp *q = __atomic_load_n(&hp3v_qps[i], __ATOMIC_ACQUIRE);

		if (q == NULL || __builtin_expect(hp3v_is(&q->key, context, qpn), 1))
			return q;
	}
}

static inline struct hp3v_ctx *hp3v_ctx_of(const struct ibv_context *context)
{
	return hp3v_find(context, HP3V_CONTEXT);
}

static inline struct hp3v_cq *hp3v_cq_of(const struct ibv_cq_ex *cq)
{
	return hp3v_find(cq, HP3V_CQ);
}

/*
 * One lock for the tables, the lists of records, and the owners of cells, which seldom change. Do
 * not take a queue pair's lock while holding this lock.
 */
void hp3v_lock(void);
void hp3v_unlock(void);
void hp3v_lock_init(void); /* call it in a forked child */

/* False: the table is full. Replaces a record with the same key. */
bool hp3v_put_qp(struct hp3v_qp *q, const struct ibv_context *context, uint32_t qpn);
void hp3v_remove_qp(struct hp3v_qp *q);
/*
 * Returns an unused or a new record of `size` bytes, which begins with its key. NULL: no memory, or
 * the table is full.
 */
void *hp3v_put(struct hp3v_key **unused, size_t size, const void *owner, uint32_t number);
void hp3v_remove(struct hp3v_key **unused, struct hp3v_key *key);
