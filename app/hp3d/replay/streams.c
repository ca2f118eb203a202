/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/replay/streams.h"
#include <stdlib.h>
#include "base/hash.h"

uint64_t hp3d_replay_hash_key(const struct hp3d_replay_key *k)
{
	uint64_t h = hp3_hash((uint64_t)k->vlan << 32 | k->qpn, k->src, sizeof(k->src));

	return hp3_hash(h, k->dst, sizeof(k->dst));
}

static bool same_key(const struct hp3d_replay_key *a, const struct hp3d_replay_key *b)
{
	return a->qpn == b->qpn && a->vlan == b->vlan && a->ipv6 == b->ipv6 &&
	       memcmp(a->src, b->src, 16) == 0 && memcmp(a->dst, b->dst, 16) == 0;
}

struct hp3d_replay_key hp3d_replay_reverse_key(const struct hp3d_replay_key *k)
{
	struct hp3d_replay_key r = *k;

	memcpy(r.src, k->dst, 16);
	memcpy(r.dst, k->src, 16);
	return r;
}

/* The list of a direction, made if there is none. */
static uint32_t find_list(struct hp3d_replay_flows *t, struct hp3d_replay_key k)
{
	uint32_t at;

	k.qpn = HP3D_REPLAY_NONE;
	for (at = (uint32_t)hp3d_replay_hash_key(&k) % HP3D_REPLAY_SLOTS; t->list_slots[at] != 0;
		at = (at + 1) % HP3D_REPLAY_SLOTS) {
		if (same_key(&t->lists[t->list_slots[at] - 1].key, &k))
			return t->list_slots[at] - 1;
	}
	t->lists[t->n_lists] = (struct hp3d_replay_list){.key = k, .first = HP3D_REPLAY_NONE};
	t->list_slots[at] = ++t->n_lists;
	return t->n_lists - 1;
}

/* The stream of a key. HP3D_REPLAY_NONE: there is none, or with `add`, no room for it. */
uint32_t hp3d_replay_find_stream(
	struct hp3d_replay_flows *t, const struct hp3d_replay_key *k, bool add)
{
	struct hp3d_replay_key back = hp3d_replay_reverse_key(k);
	struct hp3d_replay_stream *s;
	uint32_t at, list;

	for (at = (uint32_t)hp3d_replay_hash_key(k) % HP3D_REPLAY_SLOTS; t->slots[at] != 0;
		at = (at + 1) % HP3D_REPLAY_SLOTS) {
		if (same_key(&t->streams[t->slots[at] - 1]->key, k))
			return t->slots[at] - 1;
	}
	if (!add || t->n == HP3D_REPLAY_STREAMS)
		return HP3D_REPLAY_NONE;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return HP3D_REPLAY_NONE;
	list = find_list(t, *k);
	s->key = *k;
	s->reverse = find_list(t, back);
	s->next = t->lists[list].first;
	s->peer = HP3D_REPLAY_NONE;
	s->began = t->number;
	t->lists[list].first = t->n;
	t->streams[t->n] = s;
	t->slots[at] = ++t->n;
	return t->n - 1;
}

struct hp3d_replay_list *hp3d_replay_own_list(
	struct hp3d_replay_flows *t, const struct hp3d_replay_stream *s)
{
	return &t->lists[find_list(t, s->key)];
}

struct hp3d_replay_flows *hp3d_replay_flows_new(void)
{
	struct hp3d_replay_flows *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->streams = calloc(HP3D_REPLAY_STREAMS, sizeof(struct hp3d_replay_stream *));
	t->lists = calloc(2 * HP3D_REPLAY_STREAMS, sizeof(*t->lists));
	if (t->streams == NULL || t->lists == NULL) {
		hp3d_replay_flows_free(t);
		return NULL;
	}
	return t;
}

void hp3d_replay_flows_free(struct hp3d_replay_flows *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->n; i++)
		free(t->streams[i]);
	free(t->streams);
	free(t->lists);
	free(t);
}
