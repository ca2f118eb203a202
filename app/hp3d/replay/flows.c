/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds a packet to the table of flows, and reads the rows of the table. */
#include "app/hp3d/replay/streams.h"

void hp3d_replay_flows_add(struct hp3d_replay_flows *t, const struct hp3d_replay_frame *f,
	uint64_t t_ns, bool icrc_wrong)
{
	struct hp3d_replay_stream *s;
	uint32_t number;
	bool repeated;

	t->number++;
	if (!hp3d_replay_is_counted(&f->v))
		return;
	number = hp3d_replay_take_packet(t, f, t_ns, true, &repeated);
	if (number == HP3D_REPLAY_NONE)
		return;
	s = t->streams[number];
	if (repeated) {
		s->copies++;
		s->late_repeated += s->late && f->v.psn == hp3_psn_add(s->late_psn, 1);
		s->late = false;
		return;
	}
	s->icrc_wrong += icrc_wrong;
	s->distinct++;
	s->reliable = s->reliable || f->v.class != HP3_CLASS_UC;
	if (f->v.class == HP3_CLASS_RC_REPLY)
		hp3d_replay_count_reply(t, number, f, icrc_wrong);
	else
		hp3d_replay_count_request(t, s, f, t_ns);
}

/* Why a stream that has only replies is not paired. */
static enum hp3_unpaired_reason reason_of_replies(const struct hp3d_replay_stream *s)
{
	if (s->overflow || hp3d_replay_fits_any(s))
		return HP3_UNPAIRED_MANY_REQUESTS;
	return s->n > 0 ? HP3_UNPAIRED_OTHER_REQUESTS : HP3_UNPAIRED_NO_REQUESTS;
}

static enum hp3_unpaired_reason reason_of(
	const struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s)
{
	const struct hp3d_replay_list *back = &t->lists[s->reverse];
	bool good = false;

	if (!s->reliable)
		return HP3_UNPAIRED_UNRELIABLE;
	if (hp3d_replay_same_address(s))
		return HP3_UNPAIRED_SAME_ADDRESS;
	if (s->icrc_wrong > 0 && s->icrc_wrong >= s->requests + s->replies)
		return HP3_UNPAIRED_WRONG;
	if (s->requests == 0)
		return reason_of_replies(s);
	if (back->first == HP3D_REPLAY_NONE)
		return HP3_UNPAIRED_ONE_WAY;
	if (s->ops == HP3D_OP_OTHER)
		return HP3_UNPAIRED_OPCODE;
	if (back->replies == 0)
		return HP3_UNPAIRED_NO_REPLIES;
	for (uint32_t i = back->first; i != HP3D_REPLAY_NONE; i = t->streams[i]->next)
		good = good || t->streams[i]->good_replies > 0;
	if (!good)
		return HP3_UNPAIRED_ICRC;
	return s->ambiguous ? HP3_UNPAIRED_AMBIGUOUS : HP3_UNPAIRED_UNANSWERED;
}

static void fill_row(const struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s,
	struct hp3d_replay_row *row)
{
	const struct hp3d_replay_stream *peer =
		s->peer != HP3D_REPLAY_NONE ? t->streams[s->peer] : NULL;
	const bool paired = peer != NULL || s->known;

	*row = (struct hp3d_replay_row){.key = s->key,
		.paired = paired,
		.peer_qpn = s->peer_qpn,
		.reason = paired ? HP3_UNPAIRED_PAIRED : reason_of(t, s),
		.sport = s->sport,
		.ops = s->ops,
		.requests = s->requests,
		.replies = peer != NULL ? peer->replies : 0,
		.bytes = s->bytes,
		.first_psn = s->first,
		.last_psn = s->hi,
		.retransmits = s->retransmits,
		.reordered = s->reordered,
		.copies = s->copies,
		.naks = peer != NULL ? peer->naks : 0,
		.rnrs = peer != NULL ? peer->rnrs : 0};
}

struct hp3d_replay_totals hp3d_replay_flows_totals(const struct hp3d_replay_flows *t)
{
	struct hp3d_replay_totals sum = {0};
	struct hp3d_replay_row row;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(t, &at, &row)) {
		sum.flows += row.requests > 0;
		sum.paired += row.requests > 0 && row.paired;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		sum.retransmits += t->streams[i]->retransmits;
		sum.reordered += t->streams[i]->reordered;
		sum.naks += t->streams[i]->naks;
		sum.rnrs += t->streams[i]->rnrs;
	}
	return sum;
}

bool hp3d_replay_flows_next(
	const struct hp3d_replay_flows *t, uint32_t *at, struct hp3d_replay_row *row)
{
	while (*at < t->n) {
		const struct hp3d_replay_stream *s = t->streams[(*at)++];

		if (s->requests > 0 || (s->peer == HP3D_REPLAY_NONE && !s->known)) {
			fill_row(t, s, row);
			return true;
		}
	}
	return false;
}
