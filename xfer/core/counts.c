/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver of immediates: counts each op once. */
#include "xfer/core/inside.h"
#include <string.h>
#include "base/minmax.h"

void hp3xc_counter_add(struct hp3x_core *c, uint32_t counter, uint32_t add)
{
	if (c->adds[counter] == 0 && add != 0)
		c->changed[c->n_changed++] = (uint16_t)counter;
	c->adds[counter] += add;
}

bool hp3xc_count_act(struct hp3x_core *c, struct hp3x_act *act)
{
	uint32_t counter;

	if (c->n_changed == 0)
		return false;
	counter = c->changed[c->n_changed - 1];
	*act = (struct hp3x_act){.kind = HP3X_ACT_COUNT};
	act->count.counter = counter;
	act->count.add = (uint32_t)hp3_min_u64(c->adds[counter], UINT32_MAX);
	c->adds[counter] -= act->count.add;
	if (c->adds[counter] == 0)
		c->n_changed--;
	return true;
}

static void answer_put(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t slot, bool counted)
{
	struct hp3xc_count *k = &peer->counts[slot];

	if (!k->counted && !k->forgotten)
		hp3xc_slots_put(peer, &peer->answers, (uint16_t)slot);
	if (counted)
		k->counted = true;
	else
		k->forgotten = true;
	hp3xc_peer_talk(c, peer);
}

/* The first immediate, or the BEGIN, of a generation. */
static void count_open(struct hp3xc_peer *peer, uint32_t named)
{
	struct hp3xc_count *k = &peer->counts[named >> 1];

	k->generation = named & 1;
	k->open = true;
	k->n_slices = k->seen = 0;
	k->bitmap = 0;
	if (named >> 1 < HP3XC_LARGE_SLOTS)
		memset(peer->bitmaps[named >> 1], 0, sizeof(peer->bitmaps[0]));
}

static void count_close(
	struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t slot, uint32_t counter, uint32_t add)
{
	peer->counts[slot].open = false;
	hp3xc_counter_add(c, counter, add);
	answer_put(c, peer, slot, true);
}

static void count_check(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t slot)
{
	struct hp3xc_count *k = &peer->counts[slot];

	if (k->n_slices != 0 && k->seen == k->n_slices)
		count_close(c, peer, slot, k->counter, k->add);
}

static void slice_arrive(
	struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t slot, uint32_t slice)
{
	struct hp3xc_count *k = &peer->counts[slot];
	uint64_t *word = slot < HP3XC_LARGE_SLOTS ? &peer->bitmaps[slot][slice / 64] : &k->bitmap;
	uint64_t bit = 1ull << slice % 64;

	if ((slot >= HP3XC_LARGE_SLOTS && slice >= HP3XC_SMALL) || (*word & bit) != 0)
		return;
	*word |= bit;
	k->seen++;
	count_check(c, peer, slot);
}

void hp3x_core_arrived(
	struct hp3x_core *c, uint64_t now, uint32_t peer, uint32_t path, uint32_t imm)
{
	struct hp3xc_path *p = hp3xc_path_of(c, peer, path);
	uint32_t named = imm >> 20 & 0x7ff, slot = named >> 1;
	struct hp3xc_count *k;

	c->now = now;
	if (p == NULL || p->peer->gone || p->stage == HP3XC_DOWN || p->shut)
		return;
	p->arrived++;
	hp3xc_flush_check(c, p);
	k = &p->peer->counts[slot];
	if (!k->open && k->generation == (named & 1))
		return; /* repeated, or late */
	if (!k->open)
		count_open(p->peer, named);
	if (k->generation != (named & 1))
		return;
	if (imm >> 31 != 0)
		count_close(c, p->peer, slot, imm >> 8 & 0xfff, imm & 0xff);
	else
		slice_arrive(c, p->peer, slot, imm >> 8 & 0xfff);
}

int hp3xc_count_begin(struct hp3x_core *c, struct hp3xc_peer *peer, const struct hp3xc_begin *begin)
{
	uint32_t slot = begin->named >> 1;
	uint32_t most = slot < HP3XC_LARGE_SLOTS ? HP3X_MOST_PAGES : HP3XC_SMALL;
	struct hp3xc_count *k;

	if (slot >= HP3X_SLOTS || begin->counter >= HP3X_COUNTERS || begin->n_slices == 0 ||
		begin->n_slices > most || begin->add == 0)
		return -EPROTO;
	k = &peer->counts[slot];
	if (k->open ? k->generation != (begin->named & 1) || k->n_slices != 0
		    : k->generation == (begin->named & 1))
		return -EPROTO;
	if (!k->open)
		count_open(peer, begin->named);
	if (k->seen > begin->n_slices)
		return -EPROTO;
	k->n_slices = (uint16_t)begin->n_slices;
	k->counter = (uint16_t)begin->counter;
	k->add = begin->add;
	count_check(c, peer, slot);
	return 0;
}

int hp3xc_count_forget(struct hp3x_core *c, struct hp3xc_peer *peer, uint32_t named)
{
	struct hp3xc_count *k = named >> 1 < HP3X_SLOTS ? &peer->counts[named >> 1] : NULL;

	if (k == NULL || (k->open && k->generation != (named & 1)))
		return -EPROTO;
	k->generation = named & 1;
	k->open = false;
	answer_put(c, peer, named >> 1, false);
	return 0;
}

static void flush_end(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	if (--peer->flush_left != 0)
		return;
	peer->flushed = true;
	hp3xc_peer_talk(c, peer);
}

void hp3xc_flush_check(struct hp3x_core *c, struct hp3xc_path *p)
{
	if (!p->flush || (!p->shut && p->arrived < p->flush_until))
		return;
	p->flush = false;
	flush_end(c, p->peer);
}

int hp3xc_flush_begin(struct hp3xc_peer *peer)
{
	if (peer->flush_left != 0 || peer->flushed)
		return -EPROTO;
	peer->flush_left = 1; /* until hp3xc_flush_ready() */
	return 0;
}

int hp3xc_flush_path(struct hp3xc_path *p, uint32_t opening, uint32_t immediates)
{
	if (p->flush || opening > p->opening)
		return -EPROTO;
	p->flush = opening == p->opening && p->stage != HP3XC_DOWN && !p->shut &&
		   p->arrived < immediates;
	p->flush_until = immediates;
	p->peer->flush_left += p->flush;
	return 0;
}

void hp3xc_flush_ready(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	flush_end(c, peer);
}
