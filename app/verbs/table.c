/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys in open addressing, linear probing: readers need no lock. */
#include "app/verbs/table.h"

struct hp3v_key *hp3v_table[HP3V_TABLE];
struct hp3v_key hp3v_gone;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t used;

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

static uint32_t next(uint32_t i)
{
	return (i + 1u) & (HP3V_TABLE - 1u);
}

bool hp3v_put(struct hp3v_key *key, const void *owner, uint32_t number)
{
	uint32_t i = hp3v_slot(owner, number), free = HP3V_TABLE;

	for (; hp3v_table[i] != NULL; i = next(i)) {
		if (hp3v_is(hp3v_table[i], owner, number))
			break;
		if (hp3v_table[i] == &hp3v_gone && free == HP3V_TABLE)
			free = i;
	}
	if (hp3v_table[i] == NULL) {
		if (free != HP3V_TABLE)
			i = free;
		else if (used >= HP3V_TABLE / 4u * 3u)
			return false;
		else
			used++;
	}
	__atomic_store_n(&key->number, number, __ATOMIC_RELAXED);
	__atomic_store_n(&key->owner, owner, __ATOMIC_RELAXED);
	__atomic_store_n(&hp3v_table[i], key, __ATOMIC_RELEASE);
	return true;
}

/* What was passed on the way to somebody else stays passable; at the end of a run slots become
 * free. */
static void mark_gone(uint32_t i)
{
	__atomic_store_n(&hp3v_table[i], &hp3v_gone, __ATOMIC_RELEASE);
	while (hp3v_table[next(i)] == NULL && hp3v_table[i] == &hp3v_gone) {
		__atomic_store_n(&hp3v_table[i], NULL, __ATOMIC_RELEASE);
		used--;
		i = (i - 1u) & (HP3V_TABLE - 1u);
	}
}

void hp3v_remove(struct hp3v_key *key)
{
	for (uint32_t i = hp3v_slot(key->owner, key->number); hp3v_table[i] != NULL; i = next(i))
		if (hp3v_table[i] == key) {
			mark_gone(i);
			break;
		}
	__atomic_store_n(&key->owner, NULL, __ATOMIC_RELEASE);
}
