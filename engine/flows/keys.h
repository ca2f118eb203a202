/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the flow of a packet: the keys of flow.h, their hash, and the look-up (keys.c). The result
 * of an earlier, prefetched look-up counts only if the record has the packet's key.
 */
#include "base/likely.h"
#include "engine/state.h"

struct hp3_key {
	uint64_t addr;
	uint32_t qpn;
	uint32_t vlan;
	bool ipv6;
	enum hp3_dir dir;
};

#define HP3_KEY_SPREAD 0x9e3779b1u
void hp3_key_hash(
	const struct hp3_engine *e, const struct hp3_key *k, uint32_t *sig, uint32_t *bucket);
uint64_t hp3_key_addr(const struct hp3_engine *e, const struct hp3_ends *ends);
/*
 * Signature and bucket of a key: a sum of two keyed products (NH of UMAC, RFC 4418 section 5.2).
 * The bucket results from both halves of the sum, folded and spread. burst.c computes this hash for
 * several packets at once.
 */
static inline void hp3_key_mix(const struct hp3_engine *e, uint64_t addr, uint32_t qpn,
	uint32_t vlan, enum hp3_dir dir, uint32_t *sig, uint32_t *bucket)
{
	uint64_t h, spread;

	h = (uint64_t)((uint32_t)addr + e->key[0]) * ((uint32_t)(addr >> 32) + e->key[1]);
	h += (uint64_t)((qpn | (uint32_t)dir << 31) + e->key[2]) * (vlan + e->key[3]);
	spread = (uint64_t)(uint32_t)(h ^ h >> 32) * HP3_KEY_SPREAD;
	*sig = (uint32_t)h;
	*bucket = (uint32_t)(spread ^ spread >> 32) & e->table.mask;
}

/*
 * The flow of a packet that this host sends (TX: to remote QPN `qpn`) or receives (RX: at local QPN
 * `qpn`).
 */
uint32_t hp3_flow_at(
	const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t qpn, enum hp3_dir dir);
static inline struct hp3_ends hp3_pkt_ends(const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	return hp3_ends_of(pkt->frame, &pkt->v, dir);
}

static inline bool hp3_flow_is(const struct hp3_engine *e, const struct hp3_flow *f,
	const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	uint32_t qpn = dir == HP3_DIR_TX ? f->rqpn : f->lqpn;
	uint16_t want = (uint16_t)(HP3_FF_USED | (dir == HP3_DIR_RX ? HP3_FF_PAIRED : 0) |
				   (pkt->v.flags & HP3_VF_IPV6 ? HP3_FF_IPV6 : 0));
	uint16_t mask =
		(uint16_t)(HP3_FF_USED | HP3_FF_IPV6 | (dir == HP3_DIR_RX ? HP3_FF_PAIRED : 0));

	return f->addr == pkt->addr && qpn == pkt->v.dest_qpn && f->vlan == pkt->v.vlan &&
	       (f->flags & mask) == want;
}

uint32_t hp3_pkt_flow_slow(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir);
/* The flow of a packet, verified; HP3_NO_FLOW if there is none. */
static inline uint32_t hp3_pkt_flow(
	struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	if (HP3_LIKELY(pkt->flow != HP3_NO_FLOW && !(pkt->v.flags & HP3_VF_IPV6) &&
		       hp3_flow_is(e, &e->flows[pkt->flow], pkt, dir)))
		return pkt->flow;
	return hp3_pkt_flow_slow(e, pkt, dir);
}
