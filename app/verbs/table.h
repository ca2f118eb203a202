/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_TABLE_H
#define HP3_VERBS_TABLE_H

#include "app/verbs/shim.h"

/*
 * From a context, a queue pair's number in it, or an extended completion queue to its record.
 * Looked up without a lock; put and removed by one thread at a time (hp3v_lock()).
 */
#define HP3V_TABLE 65536u

extern struct hp3v_key *hp3v_table[HP3V_TABLE];
extern struct hp3v_key hp3v_gone; /* a slot that was used */

static inline uint32_t hp3v_slot(const void *owner, uint32_t number)
{
	uint64_t h = ((uintptr_t)owner >> 4) * UINT64_C(0x9e3779b97f4a7c15) +
		     number * UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(h >> 32) & (HP3V_TABLE - 1u);
}

static inline bool hp3v_is(const struct hp3v_key *key, const void *owner, uint32_t number)
{
	return __atomic_load_n(&key->owner, __ATOMIC_RELAXED) == owner &&
	       __atomic_load_n(&key->number, __ATOMIC_RELAXED) == number;
}

static inline void *hp3v_find(const void *owner, uint32_t number)
{
	for (uint32_t i = hp3v_slot(owner, number);; i = (i + 1u) & (HP3V_TABLE - 1u)) {
		struct hp3v_key *key = __atomic_load_n(&hp3v_table[i], __ATOMIC_ACQUIRE);

		if (key == NULL)
			return NULL;
		if (hp3v_is(key, owner, number))
			return key;
	}
}

static inline struct hp3v_ctx *hp3v_ctx_of(const struct ibv_context *context)
{
	return hp3v_find(context, HP3V_CONTEXT);
}

static inline struct hp3v_qp *hp3v_qp_of(const struct ibv_context *context, uint32_t qpn)
{
	return hp3v_find(context, qpn);
}

static inline struct hp3v_cq *hp3v_cq_of(const struct ibv_cq_ex *cq)
{
	return hp3v_find(cq, HP3V_CQ);
}

/* One lock for what seldom changes: the table, records, cells. None of a queue pair is taken in it.
 */
void hp3v_lock(void);
void hp3v_unlock(void);
void hp3v_lock_init(void); /* in a child that was forked */

/* False: full. One of the same key gives way. */
bool hp3v_put(struct hp3v_key *key, const void *owner, uint32_t number);
void hp3v_remove(struct hp3v_key *key);

#endif
