/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/peer.h"
#include "roce/icrc.h"

#define REPORT 0x80000000u /* set in the tag's input, above the QPN, for reports */

static uint64_t hash_of(const struct hp3_addressing *a, const struct hp3_peer_probe *p,
	const struct hp3_probe_key *key)
{
	uint8_t b[24];

	hp3_put_be32(b, p->dest_qpn | (p->report ? REPORT : 0));
	hp3_put_be32(b + 4, p->psn);
	hp3_put_be32(b + 8, p->id);
	hp3_put_be32(b + 20, p->pad);
	hp3_put_be64(b + 12, hp3_pair_keyed(key, a) || p->report ? p->time : p->time & UINT16_MAX);
	return hp3_tag(
		key, &(struct hp3_tag_input){HP3_TAG_PROBE, a, HP3_ROCE_UDP_PORT, b, sizeof(b)});
}

int hp3_peer_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_peer_probe *p, const struct hp3_probe_key *key)
{
	uint64_t head = HP3_PEER_HEAD(p->report ? HP3_PEER_KIND_REPORT : HP3_PEER_KIND_PROBE);
	uint64_t seconds = p->report ? p->time / 1000000 : p->time;
	uint64_t va = head << 48 | (seconds & UINT16_MAX) << 32 | p->id;
	uint64_t hash = hash_of(a, p, key);
	static const uint8_t zeros[HP3_PEER_PAD_MAX];
	uint8_t written[HP3_PEER_REPORT_LENGTH];
	uint16_t length = p->report ? sizeof(written) : p->pad;

	if (length > HP3_PEER_PAD_MAX || length % 4 != 0)
		return -EINVAL;

	hp3_put_be64(written, p->time);
	hp3_put_be32(written + 8, (uint32_t)(hash >> 32));
	return hp3_build(buf, cap, a,
		&(struct hp3_fields){.opcode = HP3_OP_UC_WRITE_ONLY,
			.dest_qpn = p->dest_qpn,
			.psn = p->psn,
			.va = va,
			.rkey = hp3_pair_keyed(key, a) ? (uint32_t)hash : p->cookie,
			.dma_len = length,
			.payload = p->report ? written : zeros,
			.payload_len = length});
}

/* The time nearest to `clock` whose low 16 bits are these. */
static uint64_t whole_time(uint16_t low, uint64_t clock)
{
	return clock + (uint64_t)(int64_t)(int16_t)(low - (uint16_t)clock);
}

/*
 * Sets key and hash of *p. `upper`: the upper half of a report's tag. -EACCES: no key made the tag.
 */
static int find_key(const struct hp3_addressing *a, const uint8_t upper[4],
	const struct hp3_probe_keys *keys, struct hp3_peer_probe *p)
{
	for (; p->key < hp3_probe_keys(keys, a); p->key++) {
		const struct hp3_probe_key *key = &keys->key[p->key];

		p->hash = hash_of(a, p, key);
		if (!hp3_pair_keyed(key, a) ||
			((uint32_t)p->hash == p->cookie &&
				(!p->report || p->hash >> 32 == hp3_be32(upper))))
			return 0;
	}
	return -EACCES;
}

int hp3_peer_read(const struct hp3_parsed *f, const struct hp3_probe_keys *keys, uint64_t clock,
	struct hp3_peer_probe *p)
{
	const struct hp3_view *v = f->v;
	const uint8_t *end = (const uint8_t *)f->bytes + v->icrc_off;
	uint64_t va = hp3_peer_va(f->bytes, v);
	uint16_t low = (uint16_t)(va >> 32);
	struct hp3_addressing a;

	if (!hp3_icrc_ok(f->bytes, v))
		return -EBADMSG;
	if (hp3_peer_version(f->bytes, v) != HP3_PROBES_VERSION)
		return -EPROTONOSUPPORT;
	hp3_addressing_same(f->bytes, v, &a);
	*p = (struct hp3_peer_probe){.dest_qpn = v->dest_qpn,
		.psn = v->psn,
		.id = (uint32_t)va,
		.report = (va >> 48 & 15) == HP3_PEER_KIND_REPORT,
		.cookie = hp3_peer_cookie(f->bytes, v),
		.time = hp3_pair_keyed(&keys->key[0], &a) ? whole_time(low, clock) : low};
	if (p->report)
		p->time = hp3_be64(end - HP3_PEER_REPORT_LENGTH);
	else
		p->pad = (uint16_t)v->dma_len;
	return find_key(&a, end - sizeof(uint32_t), keys, p);
}
