/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of shares per peer. */
#include "engine/spray/quota.h"
#include <string.h>
#include "base/hash.h"

void hp3_quota_init(struct hp3_quotas *q, uint32_t n, uint32_t heads, uint64_t seed)
{
	for (unsigned i = 0; i < 3; i++)
		q->key[i] = hp3_random(&seed);
	q->mask = heads - 1;
	memset(q->heads, 0xff, heads * sizeof(*q->heads));
	for (uint32_t i = 0; i < n; i++)
		q->peer[i].next = i + 1 < n ? (uint16_t)(i + 1) : HP3_NO_QUOTA;
	q->free = 0;
}

static uint16_t *head_of(const struct hp3_quotas *q, const uint8_t remote[16])
{
	uint64_t w[2];

	memcpy(w, remote, 16);
	w[0] = hp3_mix(w[0] ^ q->key[0], w[1] ^ q->key[1]);
	return &q->heads[hp3_mix(w[0], q->key[2]) & q->mask];
}

static void load_remote(uint8_t remote[16], const struct hp3_ends *ends)
{
	memset(remote, 0, 16);
	memcpy(remote, ends->remote, ends->ipv6 ? 16 : 4);
}

static uint16_t find_in_chain(const struct hp3_quotas *q, uint16_t i, const struct hp3_ends *ends,
	const uint8_t remote[16])
{
	while (i != HP3_NO_QUOTA &&
		!(q->peer[i].ipv6 == ends->ipv6 && memcmp(q->peer[i].remote, remote, 16) == 0))
		i = q->peer[i].next;
	return i;
}

uint16_t hp3_quota_find(const struct hp3_quotas *q, const struct hp3_ends *ends)
{
	uint8_t remote[16];

	load_remote(remote, ends);
	return find_in_chain(q, *head_of(q, remote), ends, remote);
}

uint16_t hp3_quota_get(struct hp3_quotas *q, const struct hp3_ends *ends)
{
	uint8_t remote[16];
	uint16_t *head, i;
	struct hp3_quota *p;

	load_remote(remote, ends);
	head = head_of(q, remote);
	i = find_in_chain(q, *head, ends, remote);
	if (i != HP3_NO_QUOTA)
		return i;
	i = q->free;
	p = &q->peer[i];
	q->free = p->next;
	*p = (struct hp3_quota){.ipv6 = ends->ipv6, .next = *head};
	memcpy(p->remote, remote, 16);
	*head = i;
	return i;
}

void hp3_quota_put(struct hp3_quotas *q, uint16_t i)
{
	struct hp3_quota *p = &q->peer[i];
	uint16_t *link = head_of(q, p->remote);

	if (p->ins + p->outs != 0)
		return;
	while (*link != i)
		link = &q->peer[*link].next;
	*link = p->next;
	p->next = q->free;
	q->free = i;
}
