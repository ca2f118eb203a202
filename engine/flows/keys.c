/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of the flow table. IPv4 addresses are in the flow record, so a look-up touches two cache
 * lines: bucket and record. IPv6 addresses are hashed to 64 bits there, and compared in full in the
 * pair table.
 */
#include "engine/flows/keys.h"
#include "engine/common.h"

uint64_t hp3_key_addr(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	uint64_t l[2], r[2];

	if (!ends->ipv6)
		return (uint64_t)hp3_be32(ends->local) << 32 | hp3_be32(ends->remote);
	memcpy(l, ends->local, 16);
	memcpy(r, ends->remote, 16);
	return hp3_mix(hp3_mix(l[0] ^ e->seed[2], l[1] ^ e->seed[3]) ^ r[0] ^ e->seed[1],
		r[1] ^ e->seed[0]);
}

void hp3_key_hash(
	const struct hp3_engine *e, const struct hp3_key *k, uint32_t *sig, uint32_t *bucket)
{
	hp3_key_mix(e, k->addr, k->qpn, k->vlan, k->dir, sig, bucket);
}

static bool same_addresses(
	const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_ends *ends)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return !(f->flags & HP3_FF_IPV6) ||
	       (memcmp(p->local, ends->local, 16) == 0 && memcmp(p->remote, ends->remote, 16) == 0);
}

static bool is_key(const struct hp3_flow *f, const struct hp3_key *k)
{
	if (!(f->flags & HP3_FF_USED) || f->addr != k->addr || f->vlan != k->vlan ||
		!!(f->flags & HP3_FF_IPV6) != k->ipv6)
		return false;
	return k->dir == HP3_DIR_TX ? f->rqpn == k->qpn
				    : (f->flags & HP3_FF_PAIRED) && f->lqpn == k->qpn;
}

static uint32_t find_in_bucket(const struct hp3_engine *e, const struct hp3_bucket *b, uint32_t sig,
	const struct hp3_key *k, const struct hp3_ends *ends)
{
	for (uint32_t hits = hp3_bucket_match(b, sig); hits != 0; hits &= hits - 1) {
		uint32_t ref = b->ref[__builtin_ctz(hits)] & HP3_BUCKET_REF;

		if (ref != 0 && is_key(&e->flows[ref - 1], k) &&
			same_addresses(e, &e->flows[ref - 1], ends))
			return ref - 1;
	}
	return HP3_NO_FLOW;
}

static uint32_t find_key(
	const struct hp3_engine *e, const struct hp3_key *k, const struct hp3_ends *ends)
{
	uint32_t sig, bucket, flow;
	const struct hp3_bucket *b;

	hp3_key_hash(e, k, &sig, &bucket);
	b = &e->table.buckets[bucket];
	flow = find_in_bucket(e, b, sig, k, ends);
	if (flow == HP3_NO_FLOW && (b->ref[0] & HP3_BUCKET_OVER))
		flow = find_in_bucket(e, &e->table.buckets[hp3_table_other(&e->table, bucket, sig)],
			sig, k, ends);
	return flow;
}

uint32_t hp3_pkt_flow_slow(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, dir);
	struct hp3_key k = {.addr = pkt->addr,
		.qpn = pkt->v.dest_qpn,
		.vlan = ends.vlan,
		.ipv6 = ends.ipv6,
		.dir = dir};

	return find_key(e, &k, &ends);
}

uint32_t hp3_flow_at(
	const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t qpn, enum hp3_dir dir)
{
	struct hp3_key k = {.addr = hp3_key_addr(e, ends),
		.qpn = qpn,
		.vlan = ends->vlan,
		.ipv6 = ends->ipv6,
		.dir = dir};

	return find_key(e, &k, ends);
}

uint32_t hp3_flow_find(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn)
{
	return hp3_flow_at(e, ends, rqpn, HP3_DIR_TX);
}
