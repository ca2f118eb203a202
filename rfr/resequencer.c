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

static uint32_t take(struct hp3_reseq *r, struct hp3_reseq_slot *s)
{
	uint32_t handle = s->handle - 1;

	s->handle = 0;
	r->held--;
	return handle;
}

void hp3_reseq_init(struct hp3_reseq *r, uint32_t psn)
{
	memset(r, 0, offsetof(struct hp3_reseq, slot));
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
	while (span == 0 && r->held != 0 && slot_of(r, r->expected)->handle == 0)
		r->expected = hp3_psn_add(r->expected, 1);
	r->gap_at = now;
	r->told = false;
	r->anew = 0;
}

enum hp3_reseq_verdict hp3_reseq_arrive(struct hp3_reseq *r, const struct hp3_reseq_params *p,
	uint32_t psn, uint32_t span, uint32_t handle, uint64_t now)
{
	int32_t ahead = hp3_psn_diff(psn, r->expected);
	struct hp3_reseq_slot *s = slot_of(r, psn);

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
	if (s->handle != 0)
		return HP3_RESEQ_COPY;
	if (r->held == 0) {
		r->sweep = r->expected;
		r->gap_at = now;
	}
	if (r->held == 0 || hp3_psn_diff(psn, r->top) > 0)
		r->top = psn;
	*s = (struct hp3_reseq_slot){handle + 1, span, now};
	r->held++;
	return HP3_RESEQ_HOLD;
}

uint32_t hp3_reseq_swap(struct hp3_reseq *r, uint32_t psn, uint32_t span, uint32_t handle)
{
	struct hp3_reseq_slot *s = slot_of(r, psn);
	uint32_t before = s->handle - 1;

	s->handle = handle + 1;
	s->span = hp3_min_u32(span, LONGEST);
	return before;
}

/* What is held behind the gap has been waiting for that packet since it came. */
static void look(struct hp3_reseq *r)
{
	uint32_t psn = r->expected;

	while (slot_of(r, psn)->handle == 0)
		psn = hp3_psn_add(psn, 1);
	r->gap_at = hp3_max_u64(slot_of(r, psn)->at, r->stood);
}

/* What a span that was assumed too long has passed over follows, too. */
bool hp3_reseq_next(struct hp3_reseq *r, uint64_t now, uint32_t *handle)
{
	while (r->held != 0 && hp3_psn_diff(r->sweep, r->expected) <= 0) {
		struct hp3_reseq_slot *s = slot_of(r, r->sweep);
		bool expected = r->sweep == r->expected;

		if (s->handle == 0 && expected) {
			look(r);
			return false;
		}
		r->sweep = hp3_psn_add(r->sweep, 1);
		if (s->handle == 0)
			continue;
		*handle = take(r, s);
		if (expected)
			advance(r, s->span, now);
		return true;
	}
	return false;
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
	while (slot_of(r, r->sweep)->handle == 0)
		r->sweep = hp3_psn_add(r->sweep, 1);
	return take(r, slot_of(r, r->sweep));
}

bool hp3_reseq_late(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now,
	uint32_t *handle, bool *copy)
{
	if (hp3_reseq_due(r, p) > now)
		return false;
	*copy = !r->told;
	*handle = r->told ? take_oldest(r) : slot_of(r, r->top)->handle - 1;
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
