/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash tables with open addressing and linear probing, which readers use without a lock. A record
 * begins with its key.
 */
#include "app/verbs/table.h"

#include <stdlib.h>

struct hp3v_qp *hp3v_qps[HP3V_TABLE];
struct hp3v_key *hp3v_others[HP3V_TABLE];
static struct hp3v_qp gone; /* tombstone: a slot that was used */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static struct table {
	void **slots;
	uint32_t used;
} qps = {(void **)hp3v_qps, 0}, others = {(void **)hp3v_others, 0};

_Static_assert(offsetof(struct hp3v_qp, key) == 0 && offsetof(struct hp3v_ctx, key) == 0 &&
		       offsetof(struct hp3v_cq, key) == 0,
	"the key is first");

void hp3v_lock(void)
{
	pthread_mutex_lock(&mutex);
}

void hp3v_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

void hp3v_lock_init(void)
{
	pthread_mutex_init(&mutex, NULL);
}

static bool put_key(struct table *t, struct hp3v_key *key, const void *owner, uint32_t number)
{
	uint32_t i = hp3v_slot(owner, number), free = HP3V_TABLE;

	for (; t->slots[i] != NULL; i = hp3v_next(i)) {
		if (hp3v_is(t->slots[i], owner, number))
			break;
		if (t->slots[i] == &gone && free == HP3V_TABLE)
			free = i;
	}
	if (t->slots[i] == NULL) {
		if (free != HP3V_TABLE)
			i = free;
		else if (t->used >= HP3V_TABLE / 4u * 3u)
			return false;
		else
			t->used++;
	}
	__atomic_store_n(&key->number, number, __ATOMIC_RELAXED);
	__atomic_store_n(&key->owner, owner, __ATOMIC_RELAXED);
	__atomic_store_n(&t->slots[i], (void *)key, __ATOMIC_RELEASE);
	return true;
}

/*
 * Writes a tombstone, so that look-ups continue with later keys. At the end of a run of used slots,
 * tombstones become free slots.
 */
static void mark_gone(struct table *t, uint32_t i)
{
	__atomic_store_n(&t->slots[i], (void *)&gone, __ATOMIC_RELEASE);
	while (t->slots[hp3v_next(i)] == NULL && t->slots[i] == &gone) {
		__atomic_store_n(&t->slots[i], NULL, __ATOMIC_RELEASE);
		t->used--;
		i = (i - 1u) & (HP3V_TABLE - 1u);
	}
}

static void remove_from(struct table *t, struct hp3v_key *key)
{
	for (uint32_t i = hp3v_slot(key->owner, key->number); t->slots[i] != NULL; i = hp3v_next(i))
		if (t->slots[i] == key) {
			mark_gone(t, i);
			break;
		}
	__atomic_store_n(&key->owner, NULL, __ATOMIC_RELEASE);
}

bool hp3v_put_qp(struct hp3v_qp *q, const struct ibv_context *context, uint32_t qpn)
{
	return put_key(&qps, &q->key, context, qpn);
}

void hp3v_remove_qp(struct hp3v_qp *q)
{
	remove_from(&qps, &q->key);
}

static void put_back(struct hp3v_key **unused, struct hp3v_key *key)
{
	key->next_unused = *unused;
	*unused = key;
}

void *hp3v_put(struct hp3v_key **unused, size_t size, const void *owner, uint32_t number)
{
	struct hp3v_key *key = *unused != NULL ? *unused : calloc(1, size);

	if (key == NULL)
		return NULL;
	*unused = key->next_unused;
	if (put_key(&others, key, owner, number))
		return key;
	put_back(unused, key);
	return NULL;
}

void hp3v_remove(struct hp3v_key **unused, struct hp3v_key *key)
{
	remove_from(&others, key);
	put_back(unused, key);
}
