/* SPDX-License-Identifier: BSD-3-Clause */
/* Which two streams belong to one connection: replies have the PSNs of the other's requests. */
#include "app/hp3d/replay/streams.h"

/* One reply in 16 may have another PSN: a capture lacks packets, or has them out of order. */
#define MISSES_SHARE 16u

void hp3d_replay_flows_pair(
	struct hp3d_replay_flows *t, const struct hp3d_replay_key *key, uint32_t peer_qpn)
{
	uint32_t i = hp3d_replay_find_stream(t, key, false);

	if (i == HP3D_REPLAY_NONE || t->streams[i]->peer != HP3D_REPLAY_NONE)
		return;
	t->streams[i]->known = true;
	t->streams[i]->peer_qpn = peer_qpn;
}

static void join_streams(struct hp3d_replay_flows *t, uint32_t a, uint32_t b)
{
	t->streams[a]->peer = b;
	t->streams[b]->peer = a;
	t->streams[a]->peer_qpn = t->streams[b]->key.qpn;
	t->streams[b]->peer_qpn = t->streams[a]->key.qpn;
	t->streams[a]->ambiguous = t->streams[b]->ambiguous = false;
}

static void join_known(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct hp3d_replay_stream *s = t->streams[i];
		struct hp3d_replay_key k = hp3d_replay_reverse_key(&s->key);
		uint32_t other;

		if (!s->known || s->peer != HP3D_REPLAY_NONE)
			continue;
		k.qpn = s->peer_qpn;
		other = hp3d_replay_find_stream(t, &k, false);
		if (other != HP3D_REPLAY_NONE && other != i &&
			t->streams[other]->peer == HP3D_REPLAY_NONE)
			join_streams(t, i, other);
	}
}

static bool fits_replies(const struct hp3d_replay_candidate *c)
{
	return c->hits > 0 && c->early <= c->hits &&
	       c->misses * MISSES_SHARE <= c->hits + c->misses;
}

bool hp3d_replay_fits_any(const struct hp3d_replay_stream *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (fits_replies(&s->candidates[i]))
			return true;
	}
	return false;
}

static bool has_peer(const struct hp3d_replay_flows *t, const struct hp3d_replay_candidate *c)
{
	const struct hp3d_replay_stream *q = t->streams[c->stream];

	return q->peer != HP3D_REPLAY_NONE || q->known;
}

static uint64_t faults_of(const struct hp3d_replay_candidate *c)
{
	return c->misses + c->early;
}

/*
 * Does the best candidate fit far better than the second one? The capture may lack a few packets of
 * the true peer.
 */
static bool is_far_better(
	const struct hp3d_replay_candidate *best, const struct hp3d_replay_candidate *second)
{
	uint64_t faults = faults_of(second);

	return faults > 2 * faults_of(best) &&
	       faults >= faults_of(best) + 1 + best->hits / MISSES_SHARE;
}

/* The only stream of requests that fits the replies of `s`, or one that fits far better. */
static uint32_t best_request(const struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s)
{
	const struct hp3d_replay_candidate *best = NULL, *second = NULL;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct hp3d_replay_candidate *c = &s->candidates[i];

		if (has_peer(t, c) || !fits_replies(c))
			continue;
		if (best == NULL || faults_of(c) < faults_of(best)) {
			second = best;
			best = c;
		} else if (second == NULL || faults_of(c) < faults_of(second)) {
			second = c;
		}
	}
	if (best == NULL || s->overflow)
		return HP3D_REPLAY_NONE;
	return second == NULL || is_far_better(best, second) ? best->stream : HP3D_REPLAY_NONE;
}

/* No other stream of replies has this stream of requests as its best one. */
static bool is_only_answer(const struct hp3d_replay_flows *t, uint32_t reply, uint32_t request)
{
	const struct hp3d_replay_stream *s = t->streams[reply];

	for (uint32_t i = t->lists[t->streams[request]->reverse].first; i != HP3D_REPLAY_NONE;
		i = t->streams[i]->next) {
		if (i != reply && i != request && t->streams[i]->peer == HP3D_REPLAY_NONE &&
			t->streams[i]->good_replies > 0 && !t->streams[i]->known &&
			best_request(t, t->streams[i]) == request &&
			2 * t->streams[i]->good_replies > s->good_replies)
			return false;
	}
	return true;
}

/* Joins streams whose peer is certain. Each one leaves fewer candidates for the others. */
static void join_certain(struct hp3d_replay_flows *t)
{
	bool found = true;

	while (found) {
		found = false;
		for (uint32_t i = 0; i < t->n; i++) {
			struct hp3d_replay_stream *s = t->streams[i];
			uint32_t q = s->peer == HP3D_REPLAY_NONE && !s->known &&
						     !hp3d_replay_same_address(s)
					     ? best_request(t, s)
					     : HP3D_REPLAY_NONE;

			if (q == HP3D_REPLAY_NONE || !is_only_answer(t, i, q))
				continue;
			join_streams(t, i, q);
			found = true;
		}
	}
}

static void mark_ambiguous(struct hp3d_replay_flows *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct hp3d_replay_stream *s = t->streams[i];

		for (uint32_t k = 0; s->peer == HP3D_REPLAY_NONE && k < s->n; k++) {
			if (!has_peer(t, &s->candidates[k]) && fits_replies(&s->candidates[k]))
				t->streams[s->candidates[k].stream]->ambiguous = true;
		}
	}
}

void hp3d_replay_flows_end(struct hp3d_replay_flows *t)
{
	hp3d_replay_decide_copies(t);
	join_known(t);
	join_certain(t);
	mark_ambiguous(t);
}
