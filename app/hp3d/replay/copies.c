/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that a mirror of two ports recorded twice, and retransmissions, which look the same. */
#include "app/hp3d/replay/streams.h"
#include "base/hash.h"

static struct hp3d_replay_key key_of(const struct hp3d_replay_frame *f)
{
	const uint8_t *ip = f->data + f->v.l3_off;
	struct hp3d_replay_key k = {
		.vlan = f->v.vlan, .qpn = f->v.dest_qpn, .ipv6 = (f->v.flags & HP3_VF_IPV6) != 0};

	memcpy(k.src, ip + (k.ipv6 ? 8 : 12), k.ipv6 ? 16 : 4);
	memcpy(k.dst, ip + (k.ipv6 ? 24 : 16), k.ipv6 ? 16 : 4);
	return k;
}

/*
 * The hash of all bytes that stay the same from hop to hop: a switch may also add a VLAN tag. The
 * ICRC covers these bytes; the other fields are for packets that have no ICRC.
 */
static uint64_t hash_packet(const struct hp3d_replay_frame *f, struct hp3d_replay_key key)
{
	const uint8_t *bth = f->data + f->v.udp_off + HP3_UDP_LEN;
	uint32_t ident = f->v.flags & HP3_VF_IPV6 ? 0 : hp3_be16(f->data + f->v.l3_off + 4);
	const uint64_t fields[] = {hp3_be32(f->data + f->v.icrc_off),
		(uint64_t)ident << 48 | (uint64_t)f->v.sport << 32 | hp3_be32(bth + 8),
		(uint64_t)f->v.payload_len << 8 | f->v.opcode};

	key.vlan = 0;
	return hp3_hash(hp3d_replay_hash_key(&key), fields, sizeof(fields));
}

uint32_t hp3d_replay_take_packet(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool add, bool *repeated)
{
	const struct hp3d_replay_key k = key_of(f);
	uint64_t h = hash_packet(f, k);
	struct hp3d_replay_recent *r = &t->recent[h % HP3D_REPLAY_RECENT];
	uint32_t stream;

	*repeated = r->number != 0 && r->hash == h &&
		    hp3d_replay_time_between(t_ns, r->t_ns) < HP3D_REPLAY_COPY_NS &&
		    t->lists[t->streams[r->stream]->reverse].nak < r->number;
	stream = *repeated ? r->stream : hp3d_replay_find_stream(t, &k, add);
	if (stream != HP3D_REPLAY_NONE)
		*r = (struct hp3d_replay_recent){h, t->number, t_ns, stream};
	return stream;
}

/* A stream whose packets are seldom recorded twice has retransmissions instead of copies. */
void hp3d_replay_decide_copies(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct hp3d_replay_stream *s = t->streams[i];

		s->doubled = s->copies > 0 && 3 * s->copies >= 2 * s->distinct;
		if (s->doubled)
			continue;
		if (s->requests > 0)
			s->retransmits += s->copies + s->late_repeated;
		s->reordered -= s->late_repeated;
		s->copies = s->late_repeated = 0;
	}
}

void hp3d_replay_flows_rewind(struct hp3d_replay_flows *t)
{
	memset(t->recent, 0, sizeof(t->recent));
	for (uint32_t i = 0; i < t->n_lists; i++)
		t->lists[i].nak = 0;
	t->number = 0;
}

bool hp3d_replay_flows_is_copy(
	struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	struct hp3d_replay_stream *s;
	uint32_t number;
	bool repeated;

	t->number++;
	if (!hp3d_replay_is_counted(&f->v))
		return false;
	number = hp3d_replay_take_packet(t, f, t_ns, false, &repeated);
	if (number == HP3D_REPLAY_NONE)
		return false;
	s = t->streams[number];
	if (repeated)
		return s->doubled;
	if (f->v.class == HP3_CLASS_RC_REPLY && hp3d_replay_is_nak(&f->v))
		hp3d_replay_own_list(t, s)->nak = t->number;
	return false;
}
