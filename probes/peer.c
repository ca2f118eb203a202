/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/peer.h"
#include "roce/icrc.h"

#define RETH_RKEY 28u /* behind the start of UDP */
#define REPORT    0x80000000u /* in what the tag speaks for, above the QPN */

static uint64_t hash_of(const struct hp3_addressing *a, const struct hp3_peer_probe *p,
	const struct hp3_probe_key *key)
{
	uint8_t b[20];

	hp3_put_be32(b, p->dest_qpn | (p->report ? REPORT : 0));
	hp3_put_be32(b + 4, p->psn);
	hp3_put_be32(b + 8, p->id);
	hp3_put_be64(b + 12, hp3_probe_keyed(key) ? p->time : p->time & UINT16_MAX);
	return hp3_tag(key, HP3_TAG_PROBE, a, HP3_ROCE_UDP_PORT, b, sizeof(b));
}

int hp3_peer_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_peer_probe *p, const struct hp3_probe_key *key)
{
	uint64_t magic = p->report ? HP3_REPORT_MAGIC : HP3_PEER_MAGIC;
	uint64_t va = magic << 48 | (p->time & UINT16_MAX) << 32 | p->id;

	return hp3_build(buf, cap, a,
		&(struct hp3_fields){.opcode = HP3_OP_UC_WRITE_ONLY,
			.dest_qpn = p->dest_qpn,
			.psn = p->psn,
			.va = va,
			.rkey = (uint32_t)hash_of(a, p, key)});
}

/* The time nearest to `clock` whose low 16 bits are these. */
static uint64_t whole_time(uint16_t low, uint64_t clock)
{
	return clock + (uint64_t)(int64_t)(int16_t)(low - (uint16_t)clock);
}

int hp3_peer_read(const void *frame, const struct hp3_view *v, const struct hp3_probe_key *key,
	uint64_t clock, struct hp3_peer_probe *p, uint64_t *hash)
{
	uint64_t va = hp3_peer_va(frame, v), h;
	uint32_t tag = hp3_be32((const uint8_t *)frame + v->udp_off + RETH_RKEY);
	uint16_t low = (uint16_t)(va >> 32);
	struct hp3_addressing a;

	*p = (struct hp3_peer_probe){.dest_qpn = v->dest_qpn,
		.psn = v->psn,
		.id = (uint32_t)va,
		.report = va >> 48 == HP3_REPORT_MAGIC,
		.time = hp3_probe_keyed(key) ? whole_time(low, clock) : low};
	hp3_addressing_same(frame, v, &a);
	h = hash_of(&a, p, key);
	if (hash != NULL)
		*hash = h;
	if (!hp3_icrc_ok(frame, v))
		return -EBADMSG;
	return (uint32_t)h == tag ? 0 : -EACCES;
}
