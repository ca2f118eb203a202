/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a stream: PSNs seen, retransmissions, packets out of order. */
#include "app/hp3d/replay/streams.h"

#define LATE_NS      4000000u /* a missing packet that comes later is a retransmission */
#define READ_UNKNOWN 4096u /* PSNs of a READ whose length is not recorded */
#define PMTU_MIN     256u

static void set_seen(struct hp3d_replay_stream *s, uint32_t psn, bool seen)
{
	uint64_t bit = 1ull << (psn % 64);

	if (seen)
		s->seen[psn % HP3D_REPLAY_WINDOW / 64] |= bit;
	else
		s->seen[psn % HP3D_REPLAY_WINDOW / 64] &= ~bit;
}

/* PSNs that the responses to a request take, at most. */
static uint32_t span_of(const struct hp3d_replay_frame *f)
{
	if (f->v.opcode != HP3_OP_RC_READ_REQUEST)
		return 1;
	if (f->ext_cut)
		return READ_UNKNOWN;
	return f->v.dma_len > PMTU_MIN ? (f->v.dma_len - 1) / PMTU_MIN + 1 : 1;
}

/* A request newer than all before: the PSNs of a READ are not a gap. */
static void advance_newest(struct hp3d_replay_flows *t, struct hp3d_replay_stream *s,
	const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	int32_t ahead = hp3_psn_diff(f->v.psn, s->hi);

	if ((uint32_t)ahead > s->read_span) {
		s->gap_number = t->number;
		s->gap_ns = t_ns;
	}
	if (ahead >= HP3D_REPLAY_WINDOW)
		memset(s->seen, 0, sizeof(s->seen));
	for (int32_t i = 1; i < ahead && ahead < HP3D_REPLAY_WINDOW; i++)
		set_seen(s, s->hi + (uint32_t)i, (uint32_t)ahead <= s->read_span);
	s->hi = f->v.psn;
	s->read_span = span_of(f);
	set_seen(s, s->hi, true);
}

/* A request behind a newer one. */
static void count_behind(
	struct hp3d_replay_flows *t, struct hp3d_replay_stream *s, uint32_t psn, uint64_t t_ns)
{
	const struct hp3d_replay_list *back = &t->lists[s->reverse];
	bool known = hp3_psn_diff(psn, s->hi) <= -HP3D_REPLAY_WINDOW || hp3d_replay_is_seen(s, psn);
	bool late = !known && back->nak <= s->gap_number &&
		    hp3d_replay_time_between(t_ns, s->gap_ns) < LATE_NS;

	/* The RNIC went back: the packet before was the first one of a retransmission. */
	if (known && s->late && psn == hp3_psn_add(s->late_psn, 1)) {
		s->reordered--;
		s->retransmits++;
	}
	s->late = late;
	s->late_psn = psn;
	if (late)
		s->reordered++;
	else
		s->retransmits++;
	if (late && hp3_psn_diff(psn, s->first) < 0)
		s->first = psn;
	if (hp3_psn_diff(psn, s->hi) > -HP3D_REPLAY_WINDOW)
		set_seen(s, psn, true);
}

static uint32_t op_of(uint8_t opcode)
{
	if (opcode <= HP3_OP_RC_SEND_ONLY_IMM || opcode == HP3_OP_RC_SEND_LAST_INV ||
		opcode == HP3_OP_RC_SEND_ONLY_INV)
		return HP3D_OP_SEND;
	if (opcode <= HP3_OP_RC_WRITE_ONLY_IMM)
		return HP3D_OP_WRITE;
	if (opcode == HP3_OP_RC_READ_REQUEST)
		return HP3D_OP_READ;
	if (opcode == HP3_OP_RC_CMP_SWAP || opcode == HP3_OP_RC_FETCH_ADD)
		return HP3D_OP_ATOMIC;
	if (opcode == HP3_OP_RC_FLUSH)
		return HP3D_OP_FLUSH;
	return opcode == HP3_OP_RC_ATOMIC_WRITE ? HP3D_OP_ATOMIC_WRITE : HP3D_OP_OTHER;
}

void hp3d_replay_count_request(struct hp3d_replay_flows *t, struct hp3d_replay_stream *s,
	const struct hp3d_replay_frame *f, uint64_t t_ns)
{
	const struct hp3_view *v = &f->v;

	s->requests++;
	s->bytes += v->payload_len;
	s->sport = v->sport;
	s->ops |= op_of(v->opcode & 0x1f);
	if (!s->has_psn) {
		s->has_psn = true;
		s->first = s->hi = v->psn;
		s->gap_number = t->number;
		s->gap_ns = t_ns;
		s->read_span = span_of(f);
		set_seen(s, v->psn, true);
	} else if (hp3_psn_diff(v->psn, s->hi) > 0) {
		s->late = false;
		advance_newest(t, s, f, t_ns);
	} else {
		count_behind(t, s, v->psn, t_ns);
	}
}
