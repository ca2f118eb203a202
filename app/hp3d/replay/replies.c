/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies of a stream: which streams of requests have their PSNs. */
#include "app/hp3d/replay/streams.h"

#define EARLY_MAX 64 /* PSNs that a reply may be recorded before its request */

enum match { MISS, EARLY, HIT };

/*
 * Compares the PSN of a reply with those of the stream's requests. A NAK has the PSN that the
 * responder expects.
 */
static enum match match_reply(const struct hp3d_replay_stream *s, const struct hp3_view *v)
{
	int32_t ahead = hp3_psn_diff(v->psn, s->hi);
	bool nak = (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) == HP3_SYN_NAK;

	if (!s->has_psn || ahead <= -HP3D_REPLAY_WINDOW)
		return MISS;
	if (ahead <= 0)
		return hp3d_replay_is_seen(s, v->psn) || nak ? HIT : MISS;
	if ((uint32_t)ahead < s->read_span || (nak && ahead == 1))
		return HIT;
	return ahead < EARLY_MAX ? EARLY : MISS;
}

static struct hp3d_replay_candidate *find_candidate(struct hp3d_replay_stream *s, uint32_t stream)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->candidates[i].stream == stream)
			return &s->candidates[i];
	}
	return NULL;
}

/* The candidate, or a new one that missed all earlier replies; NULL: no room. */
static struct hp3d_replay_candidate *take_candidate(
	const struct hp3d_replay_flows *t, struct hp3d_replay_stream *s, uint32_t request)
{
	bool older = t->streams[request]->began < s->began;
	struct hp3d_replay_candidate *c = find_candidate(s, request);

	if (c != NULL)
		return c;
	if (s->n == HP3D_REPLAY_CANDIDATES) {
		s->overflow = true;
		return NULL;
	}
	c = &s->candidates[s->n++];
	*c = (struct hp3d_replay_candidate){
		.stream = request, .misses = older ? s->good_replies - 1 : 0};
	return c;
}

/* Compares a reply with all streams of requests between the same addresses. */
static void compare_reply(struct hp3d_replay_flows *t, uint32_t number, const struct hp3_view *v)
{
	struct hp3d_replay_stream *s = t->streams[number];

	s->good_replies++;
	for (uint32_t i = t->lists[s->reverse].first; i != HP3D_REPLAY_NONE;
		i = t->streams[i]->next) {
		const struct hp3d_replay_stream *q = t->streams[i];
		enum match match = match_reply(q, v);
		struct hp3d_replay_candidate *c =
			match == MISS ? find_candidate(s, i) : take_candidate(t, s, i);

		/* The requests of the first replies may be older than the capture. */
		if (i == number || c == NULL)
			continue;
		c->hits += match == HIT;
		c->early += match == EARLY;
		c->misses += match == MISS && hp3_psn_diff(v->psn, q->first) >= 0;
	}
}

void hp3d_replay_count_reply(struct hp3d_replay_flows *t, uint32_t number,
	const struct hp3d_replay_frame *f, bool icrc_wrong)
{
	struct hp3d_replay_stream *s = t->streams[number];
	struct hp3d_replay_list *list = hp3d_replay_own_list(t, s);

	s->replies++;
	list->replies++;
	if (hp3d_replay_is_nak(&f->v)) {
		s->naks += HP3_SYN_KIND(f->v.syndrome) == HP3_SYN_NAK;
		s->rnrs += HP3_SYN_KIND(f->v.syndrome) == HP3_SYN_RNR;
		list->nak = t->number;
	}
	if (!icrc_wrong)
		compare_reply(t, number, &f->v);
}
