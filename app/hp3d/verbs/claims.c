/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/claims.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

static uint32_t home_of_claim(const struct hp3d_claims *c, const struct hp3d_claim *key)
{
	uint64_t w[3] = {key->lqpn | (uint64_t)key->ipv6 << 32};

	memcpy(w + 1, key->local, sizeof(key->local));
	return (uint32_t)hp3_hash(c->seed, w, sizeof(w)) & (c->buckets - 1);
}

static struct hp3d_claim key_of(const struct hp3_qp_event *qp)
{
	struct hp3d_claim key = {.lqpn = qp->lqpn, .ipv6 = qp->ipv6, .taken = true};

	memcpy(key.local, qp->local, sizeof(key.local));
	return key;
}

static bool is_key(const struct hp3d_claim *a, const struct hp3d_claim *b)
{
	return a->lqpn == b->lqpn && a->ipv6 == b->ipv6 &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0;
}

/* Bucket of the key, or the free one for it. */
static uint32_t bucket_of_claim(const struct hp3d_claims *c, const struct hp3d_claim *key)
{
	uint32_t b = home_of_claim(c, key);

	while (c->at[b].taken && !is_key(&c->at[b], key))
		b = (b + 1) & (c->buckets - 1);
	return b;
}

int hp3d_claims_open(struct hp3d_claims *c, uint32_t most, uint64_t seed)
{
	*c = (struct hp3d_claims){.buckets = 2, .most = most, .seed = seed};
	while (c->buckets < 2 * most)
		c->buckets *= 2;
	c->at = calloc(c->buckets, sizeof(*c->at));
	return c->at != NULL ? 0 : -ENOMEM;
}

void hp3d_claims_close(struct hp3d_claims *c)
{
	free(c->at);
	c->at = NULL;
}

bool hp3d_claims_has(const struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	const struct hp3d_claim key = key_of(qp);

	return c->at[bucket_of_claim(c, &key)].taken;
}

void hp3d_claims_add(struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	const struct hp3d_claim key = key_of(qp);
	struct hp3d_claim *at = &c->at[bucket_of_claim(c, &key)];

	if (at->taken || c->n == c->most)
		return;
	*at = key;
	c->n++;
}

/* Backward-shift deletion: later entries of the run move up. */
void hp3d_claims_drop(struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	const struct hp3d_claim key = key_of(qp);
	uint32_t mask = c->buckets - 1, hole = bucket_of_claim(c, &key);

	if (!c->at[hole].taken)
		return;
	for (uint32_t b = (hole + 1) & mask; c->at[b].taken; b = (b + 1) & mask) {
		uint32_t home = home_of_claim(c, &c->at[b]);

		if (((b - home) & mask) < ((b - hole) & mask))
			continue;
		c->at[hole] = c->at[b];
		hole = b;
	}
	c->at[hole].taken = false;
	c->n--;
}
