/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/resequencer.h"
#include "base/minmax.h"
#include <stddef.h>
#include <string.h>

/* PSNs of a request that count: with more of them it is not known any more what is behind what. */
#define LONGEST  ((1u << 23) - HP3_RESEQ_WINDOW - 1)
#define UNKNOWN  (UINT64_MAX / 4)
#define SPAN_NS  150000000u /* what was late is remembered so long: longer than a path rests */
#define FIRST_NS 4000000u /* until it is known how much paths differ */

static struct hp3_reseq_slot *slot_of(struct hp3_reseq *r, uint32_t psn)
{
	return &r->slot[psn & (HP3_RESEQ_WINDOW - 1)];
}

static bool is_held(const struct hp3_reseq *r, uint32_t psn)
{
	return r->word[psn / 64 % HP3_RESEQ_WORDS] >> psn % 64 & 1;
}

static void put(struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS;

	r->word[i] |= 1ull << psn % 64;
	r->words |= 1u << i;
	r->held++;
}

static uint32_t take(struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS;

	r->word[i] &= ~(1ull << psn % 64);
	r->words &= ~((uint32_t)(r->word[i] == 0) << i);
	r->held--;
	return slot_of(r, psn)->handle;
}

/* The first PSN from this one on whose packet is held; one is. */
static uint32_t next_held(const struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS, shift = psn % 64, far;
	uint64_t here = r->word[i] >> shift;

	if (here != 0)
		return hp3_psn_add(psn, (uint32_t)__builtin_ctzll(here));
	/* Words behind this one come first, then from the beginning, this one's low bits last. */
	i = (i + 1) % HP3_RESEQ_WORDS;
	far = (uint32_t)__builtin_ctz(r->words >> i | (uint32_t)((uint64_t)r->words << (32 - i)));
	i = (i + far) % HP3_RESEQ_WORDS;
	return hp3_psn_add(psn, 64 * (far + 1) - shift + (uint32_t)__builtin_ctzll(r->word[i]));
}

void hp3_reseq_init(struct hp3_reseq *r, uint32_t psn)
{
	memset(r, 0, offsetof(struct hp3_reseq, slot));
	memset(r->word, 0, sizeof(r->word));
	r->expected = r->sweep = r->top = psn;
	r->before = UNKNOWN;
}

/* How long the gap was open. What only came because it was asked for tells nothing. */
static void measure(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now)
{
	uint64_t most = hp3_min_u64(hp3_max_u64(r->late, r->before), p->most_ns);

	if (r->told && r->again)
		return;

	if (r->until == 0) {
		r->until = now + FIRST_NS;
	} else if (now >= r->until) {
		r->before = now - r->until < SPAN_NS ? r->late : 0;
		r->late = 0;
		r->until = now + SPAN_NS;
	}
	r->late = hp3_max_u64(r->late, r->told ? most + most / 2 : now - r->gap_at);
}

static void advance(struct hp3_reseq *r, uint32_t span, uint64_t now)
{
	r->expected = hp3_psn_add(r->expected, span != 0 ? span : 1);
	if (span == 0 && r->held != 0)
		r->expected = next_held(r, r->expected);
	r->gap_at = now;
	r->told = false;
	r->anew = 0;
}

enum hp3_reseq_verdict hp3_reseq_arrive(struct hp3_reseq *r, const struct hp3_reseq_params *p,
	uint32_t psn, uint32_t span, uint32_t handle, uint64_t now)
{
	int32_t ahead = hp3_psn_diff(psn, r->expected);

	span = hp3_min_u32(span, LONGEST);
	if (ahead < 0)
		return HP3_RESEQ_OLD;
	if (ahead == 0) {
		if (r->held != 0)
			measure(r, p, now);
		else
			r->sweep = psn;
		advance(r, span, now);
		return HP3_RESEQ_PASS;
	}
#ifdef HP3_BREAK_RELEASE_GAP
	return HP3_RESEQ_BEYOND;
#endif
	if ((uint32_t)ahead > p->window)
		return HP3_RESEQ_BEYOND;
	if (is_held(r, psn))
		return HP3_RESEQ_COPY;
	if (r->held == 0) {
		r->sweep = r->expected;
		r->gap_at = now;
	}
	if (r->held == 0 || hp3_psn_diff(psn, r->top) > 0)
		r->top = psn;
	*slot_of(r, psn) = (struct hp3_reseq_slot){handle, span, now};
	put(r, psn);
	return HP3_RESEQ_HOLD;
}

uint32_t hp3_reseq_swap(struct hp3_reseq *r, uint32_t psn, uint32_t span, uint32_t handle)
{
	struct hp3_reseq_slot *s = slot_of(r, psn);
	uint32_t before = s->handle;

	s->handle = handle;
	s->span = hp3_min_u32(span, LONGEST);
	return before;
}

/* What a span that was assumed too long has passed over follows, too. */
bool hp3_reseq_next(struct hp3_reseq *r, uint64_t now, uint32_t *handle)
{
	uint32_t psn;

	if (r->held == 0 || hp3_psn_diff(r->sweep, r->expected) > 0)
		return false;
	psn = next_held(r, r->sweep);
	if (((psn - r->sweep) & HP3_PSN_MASK) > ((r->expected - r->sweep) & HP3_PSN_MASK)) {
		/* What is held behind the gap has been waiting for that packet since it came. */
		r->sweep = r->expected;
		r->gap_at = hp3_max_u64(slot_of(r, psn)->at, r->stood);
		return false;
	}
	r->sweep = hp3_psn_add(psn, 1);
	*handle = take(r, psn);
	if (psn == r->expected)
		advance(r, slot_of(r, psn)->span, now);
	return true;
}

void hp3_reseq_skip(struct hp3_reseq *r, uint32_t psn)
{
	if (hp3_psn_diff(psn, r->expected) > 0)
		r->expected = psn;
}

static uint64_t wait_of(const struct hp3_reseq *r, const struct hp3_reseq_params *p)
{
	uint64_t late = hp3_max_u64(r->late, r->before);

	return hp3_min_u64(hp3_max_u64(2 * late, p->least_ns), p->most_ns);
}

uint64_t hp3_reseq_due(const struct hp3_reseq *r, const struct hp3_reseq_params *p)
{
	if (r->held == 0)
		return UINT64_MAX;
	return r->gap_at + wait_of(r, p) + (r->told ? p->give_up_ns : 0);
}

static uint32_t take_oldest(struct hp3_reseq *r)
{
	r->sweep = next_held(r, r->sweep);
	return take(r, r->sweep);
}

bool hp3_reseq_late(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now,
	uint32_t *handle, bool *copy)
{
	if (hp3_reseq_due(r, p) > now)
		return false;
	*copy = !r->told;
	*handle = r->told ? take_oldest(r) : slot_of(r, r->top)->handle;
	r->told = true;
	return true;
}

bool hp3_reseq_refused(struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	if (r->held != 0 && ((r->top - psn) & HP3_PSN_MASK) >= HP3_RESEQ_WINDOW)
		return false; /* behind all of it, too, and where "behind" means nothing any more */
	if (hp3_psn_diff(psn, r->expected) < 0)
		r->sweep = psn;
	r->expected = psn;
	r->gap_at = now;
	r->told = true;
	return true;
}

bool hp3_reseq_flush(struct hp3_reseq *r, uint32_t *handle)
{
	if (r->held == 0)
		return false;
	*handle = take_oldest(r);
	return true;
}

bool hp3_reseq_stood(struct hp3_reseq *r, uint64_t now)
{
	if (r->held == 0 || r->anew == HP3_RESEQ_AGAIN)
		return false;
	r->anew++;
	r->gap_at = r->stood = now;
	return true;
}
