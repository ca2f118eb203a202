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

static const char *reason_of(const struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s)
{
	const struct hp3d_replay_list *back = &t->lists[s->reverse];
	bool good = false;

	if (!s->reliable)
		return "unreliable connection, which hp3d forwards unchanged";
	if (hp3d_replay_same_address(s))
		return "both ends have the same address";
	if (s->icrc_wrong > 0 && s->icrc_wrong >= s->requests + s->replies)
		return "ICRC wrong in all packets";
	if (s->requests == 0 && (s->overflow || hp3d_replay_fits_any(s)))
		return "the PSNs match the requests of several queue pairs";
	if (s->requests == 0 && s->n > 0)
		return "no requests with the PSNs of these replies";
	if (s->requests == 0)
		return "no requests recorded for these replies";
	if (back->first == HP3D_REPLAY_NONE)
		return "no packets of the other direction recorded";
	if (back->replies == 0)
		return "no replies recorded";
	for (uint32_t i = back->first; i != HP3D_REPLAY_NONE; i = t->streams[i]->next)
		good = good || t->streams[i]->good_replies > 0;
	if (!good)
		return "ICRC wrong in all replies";
	if (s->ambiguous)
		return "the replies match the PSNs of several queue pairs";
	return "no replies with the PSNs of these requests";
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
		.reason = paired ? NULL : reason_of(t, s),
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
