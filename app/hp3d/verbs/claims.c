/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/verbs/claims.h"
#include <string.h>

static struct hp3d_count *claim_of(
	const struct hp3d_claims *c, const struct hp3_qp_event *qp, uint64_t key[3])
{
	key[0] = qp->lqpn | (uint64_t)qp->ipv6 << 32;
	memcpy(key + 1, qp->local, sizeof(qp->local));
	return hp3d_counts_find(&c->table, key);
}

int hp3d_claims_open(struct hp3d_claims *c, uint32_t most, uint64_t seed)
{
	*c = (struct hp3d_claims){.most = most};
	return hp3d_counts_open(&c->table, most, seed);
}

bool hp3d_claims_has(const struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	uint64_t key[3];

	return claim_of(c, qp, key)->n != 0;
}

void hp3d_claims_add(struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	uint64_t key[3];
	struct hp3d_count *claim = claim_of(c, qp, key);

	if (claim->n != 0 || c->n == c->most)
		return;
	memcpy(claim->key, key, sizeof(claim->key));
	claim->n = 1;
	c->n++;
}

void hp3d_claims_drop(struct hp3d_claims *c, const struct hp3_qp_event *qp)
{
	uint64_t key[3];
	struct hp3d_count *claim = claim_of(c, qp, key);

	if (claim->n == 0)
		return;
	hp3d_counts_free(&c->table, claim);
	c->n--;
}
