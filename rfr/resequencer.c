/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/resequencer.h"
#include "base/minmax.h"
#include <stddef.h>
#include <string.h>

/* Most PSNs of a request: a limit for PSN comparison. */
#define LONGEST ((1u << 23) - HP3_RESEQ_WINDOW - 1)
#define UNKNOWN (UINT64_MAX / 4)
/* measured lateness counts for this long: longer than an EV rests */
#define SPAN_NS       150000000u
#define FIRST_NS      4000000u /* the same at first, until the difference between paths is known */
#define STEPS         8u /* resolution of ages: fraction of give_up_ns */
#define ACK_SKIP_MOST (1 << 22) /* PSNs that an acknowledgement may skip */

static struct hp3_reseq_slot *slot_of_psn(struct hp3_reseq *r, uint32_t psn)
{
	return &r->slot[psn & (HP3_RESEQ_WINDOW - 1)];
}

static bool is_held(const struct hp3_reseq *r, uint32_t psn)
{
	return r->word[psn / 64 % HP3_RESEQ_WORDS] >> psn % 64 & 1;
}

static void put_held(struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS;

	r->word[i] |= 1ull << psn % 64;
	r->words |= 1u << i;
	r->held++;
}

static inline __attribute__((always_inline)) uint32_t take_held(struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS;

	r->word[i] &= ~(1ull << psn % 64);
	r->words &= ~((uint32_t)(r->word[i] == 0) << i);
	r->held--;
	return slot_of_psn(r, psn)->handle;
}

/* The first PSN from `psn` on with a held packet. Precondition: there is such a packet. */
static uint32_t next_held(const struct hp3_reseq *r, uint32_t psn)
{
	uint32_t i = psn / 64 % HP3_RESEQ_WORDS, shift = psn % 64, far;
	uint64_t here = r->word[i] >> shift;

	if (here != 0)
		return hp3_psn_add(psn, (uint32_t)__builtin_ctzll(here));
	/* Later words come first, then those from the beginning, then this word's low bits. */
	i = (i + 1) % HP3_RESEQ_WORDS;
	far = (uint32_t)__builtin_ctz(r->words >> i | (uint32_t)((uint64_t)r->words << (32 - i)));
	i = (i + far) % HP3_RESEQ_WORDS;
	return hp3_psn_add(psn, 64 * (far + 1) - shift + (uint32_t)__builtin_ctzll(r->word[i]));
}

void hp3_reseq_init(struct hp3_reseq *r, uint32_t psn)
{
	memset(r, 0, offsetof(struct hp3_reseq, slot));
	memset(r->word, 0, sizeof(r->word));
	r->expected = r->sweep = r->top = r->given_first = r->given_end = psn;
	r->before = UNKNOWN;
}

/* Measures how long the gap was open, unless a retransmission closed it. */
static void measure_gap(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now)
{
	uint64_t most = hp3_min_u64(hp3_max_u64(r->late, r->before), p->most_ns);

	if (r->shown && (r->again || r->lost))
		return;

	if (r->until == 0) {
		r->until = now + FIRST_NS;
	} else if (now >= r->until) {
		r->before = now - r->until < SPAN_NS ? r->late : 0;
		r->late = 0;
		r->until = now + SPAN_NS;
	}
	r->late = hp3_max_u64(r->late, r->shown ? most + most / 2 : now - r->gap_at);
}

/* Stores that the RNIC got these PSNs: a NAK for one of them may be older than that packet. */
static void note_given(struct hp3_reseq *r, uint32_t psn, uint32_t end)
{
	if (psn != r->given_end)
		r->given_first = psn;
	r->given_end = end;
}

/* Removes ages of packets that are held no more. */
static void forget_ages(struct hp3_reseq *r)
{
	uint32_t gone = 0;

	if (r->held == 0) {
		r->ages = 0;
		return;
	}
	while (gone < r->ages && hp3_psn_diff(r->age[gone].top, r->expected) < 0)
		gone++;
	if (gone == 0)
		return;
	r->ages -= gone;
	memmove(&r->age[0], &r->age[gone], r->ages * sizeof(r->age[0]));
}

/* Records the age of a newly held packet. */
static void note_age(
	struct hp3_reseq *r, const struct hp3_reseq_params *p, uint32_t psn, uint64_t now)
{
	struct hp3_reseq_age *last;

	forget_ages(r);
	last = &r->age[r->ages - (r->ages != 0)];
	if (r->ages == 0 || (r->ages < HP3_RESEQ_AGES && now - last->at >= p->give_up_ns / STEPS)) {
		r->age[r->ages++] = (struct hp3_reseq_age){now, psn};
		return;
	}
	if (hp3_psn_diff(psn, last->top) > 0)
		last->top = psn;
}

static inline __attribute__((always_inline)) void advance_expected(
	struct hp3_reseq *r, uint32_t span, uint64_t now)
{
	if (r->asked)
		note_given(r, r->expected, hp3_psn_add(r->expected, 1));
	r->asked = false;
	r->expected = hp3_psn_add(r->expected, span != 0 ? span : 1);
	if (span == 0 && r->held != 0)
		r->expected = next_held(r, r->expected);
	r->gap_at = now;
	r->shown = r->lost = false;
	r->anew = 0;
}

enum hp3_reseq_verdict hp3_reseq_arrive(struct hp3_reseq *r, const struct hp3_reseq_params *p,
	uint32_t psn, uint32_t span, uint32_t handle, uint64_t now)
{
	int32_t ahead = hp3_psn_diff(psn, r->expected);

	span = hp3_min_u32(span, LONGEST);
	if (ahead < 0) {
		note_given(r, psn, hp3_psn_add(psn, span != 0 ? span : 1));
		return HP3_RESEQ_OLD;
	}
	if (ahead == 0) {
		if (hp3_reseq_follows(r))
			return HP3_RESEQ_COPY;
		if (r->held != 0)
			measure_gap(r, p, now);
		else
			r->sweep = psn;
		advance_expected(r, span, now);
		return HP3_RESEQ_PASS;
	}
	if ((uint32_t)ahead > p->window) {
		r->asked = true;
		return HP3_RESEQ_BEYOND;
	}
	if (is_held(r, psn))
		return HP3_RESEQ_COPY;
	if (r->held == 0) {
		r->sweep = r->expected;
		r->gap_at = now;
	}
	if (r->held == 0 || hp3_psn_diff(psn, r->top) > 0)
		r->top = psn;
	note_age(r, p, psn, now);
	*slot_of_psn(r, psn) = (struct hp3_reseq_slot){handle, span, now};
	put_held(r, psn);
	return HP3_RESEQ_HOLD;
}

uint32_t hp3_reseq_swap(struct hp3_reseq *r, uint32_t psn, uint32_t span, uint32_t handle)
{
	struct hp3_reseq_slot *s = slot_of_psn(r, psn);
	uint32_t before = s->handle;

	s->handle = handle;
	s->span = hp3_min_u32(span, LONGEST);
	return before;
}

/* Also returns packets within a span that was assumed too long. */
bool hp3_reseq_next(struct hp3_reseq *r, uint64_t now, uint32_t *handle)
{
	uint32_t psn;

	if (r->held == 0 || hp3_psn_diff(r->sweep, r->expected) > 0)
		return false;
	psn = next_held(r, r->sweep);
	if (((psn - r->sweep) & HP3_PSN_MASK) > ((r->expected - r->sweep) & HP3_PSN_MASK)) {
		/* Packets behind the gap have waited for it since they arrived. */
		r->sweep = r->expected;
		r->gap_at = hp3_max_u64(slot_of_psn(r, psn)->at, r->read);
		forget_ages(r);
		return false;
	}
	r->sweep = hp3_psn_add(psn, 1);
	*handle = take_held(r, psn);
	if (psn == r->expected)
		advance_expected(r, slot_of_psn(r, psn)->span, now);
	return true;
}

bool hp3_reseq_pauses(struct hp3_reseq *r)
{
	if (!hp3_reseq_follows(r) || next_held(r, r->sweep) != r->expected)
		return false;
	r->sweep = r->expected;
	return true;
}

void hp3_reseq_skip(struct hp3_reseq *r, uint32_t psn)
{
	if (hp3_psn_diff(psn, r->expected) <= 0)
		return;
	r->expected = psn;
	r->lost = false;
}

static uint64_t wait_of_gap(const struct hp3_reseq *r, const struct hp3_reseq_params *p)
{
	uint64_t late = hp3_max_u64(r->late, r->before);

	return hp3_min_u64(hp3_max_u64(2 * late, p->least_ns), p->most_ns);
}

/*
 * After a time without polling, the missing packet may be among packets that the caller has not
 * polled yet.
 */
static inline uint64_t until_of(
	const struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t since)
{
	uint64_t until = since + p->most_ns + p->give_up_ns + p->give_up_ns / STEPS;

	return hp3_max_u64(until, hp3_min_u64(r->read, until) + p->most_ns);
}

uint64_t hp3_reseq_until(
	const struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t since)
{
	return until_of(r, p, since);
}

/* The time at which the oldest held packet has been held for the longest allowed time. */
static uint64_t oldest_due(const struct hp3_reseq *r, const struct hp3_reseq_params *p)
{
	return until_of(r, p, r->age[0].at);
}

uint64_t hp3_reseq_due(const struct hp3_reseq *r, const struct hp3_reseq_params *p)
{
	if (r->held == 0)
		return UINT64_MAX;
	if (r->lost && !r->shown)
		return r->gap_at;
	return hp3_min_u64(
		r->gap_at + wait_of_gap(r, p) + (r->shown ? p->give_up_ns : 0), oldest_due(r, p));
}

static uint32_t take_oldest(struct hp3_reseq *r)
{
	r->sweep = next_held(r, r->sweep);
	return take_held(r, r->sweep);
}

bool hp3_reseq_late(struct hp3_reseq *r, const struct hp3_reseq_params *p, uint64_t now,
	uint32_t *handle, bool *copy)
{
	if (hp3_reseq_due(r, p) > now)
		return false;
	*copy = !r->shown && oldest_due(r, p) > now;
	*handle = *copy ? slot_of_psn(r, next_held(r, r->expected))->handle : take_oldest(r);
	r->shown = r->asked = true;
	return true;
}

void hp3_reseq_passes(struct hp3_reseq *r)
{
	r->asked = true;
}

/* The RNIC expects this PSN or a later one. */
static void raise_expected(struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	r->expected = psn;
	r->gap_at = now;
	r->shown = r->asked = r->lost = false;
	r->anew = 0;
}

bool hp3_reseq_acknowledged(struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	int32_t ahead = hp3_psn_diff(psn, r->expected);

	if (ahead <= 0 || ahead > ACK_SKIP_MOST)
		return false;
	raise_expected(r, psn, now);
	return true;
}

bool hp3_reseq_had(struct hp3_reseq *r, uint32_t *handle)
{
	uint32_t psn;

	if (r->held == 0 || hp3_psn_diff(r->sweep, r->expected) >= 0)
		return false;
	psn = next_held(r, r->sweep);
	if (((psn - r->sweep) & HP3_PSN_MASK) >= ((r->expected - r->sweep) & HP3_PSN_MASK))
		return false;
	r->sweep = hp3_psn_add(psn, 1);
	*handle = take_held(r, psn);
	return true;
}

/* May the RNIC's NAK be older than the packet that it got? */
static bool is_given_since(const struct hp3_reseq *r, uint32_t psn)
{
	return hp3_psn_diff(psn, r->expected) < 0 && hp3_psn_diff(psn, r->given_first) >= 0 &&
	       hp3_psn_diff(psn, r->given_end) < 0;
}

bool hp3_reseq_refused(struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	return is_given_since(r, psn) || hp3_reseq_repeated(r, psn, now);
}

/* A requester that retransmits a READ discards responses until it has sent the READ again. */
bool hp3_reseq_repeated(struct hp3_reseq *r, uint32_t psn, uint64_t now)
{
	if (r->held != 0 && ((r->top - psn) & HP3_PSN_MASK) >= HP3_RESEQ_WINDOW)
		/* psn is after all held PSNs, or a window or more before the last of them */
		return false;
	if (hp3_psn_diff(psn, r->expected) < 0)
		r->sweep = psn;
	r->expected = psn;
	r->gap_at = now;
	r->shown = true;
	r->asked = r->lost = false;
	return true;
}

bool hp3_reseq_flush(struct hp3_reseq *r, uint32_t *handle)
{
	if (r->held == 0)
		return false;
	*handle = take_oldest(r);
	return true;
}

/* Moves a start time later by `lost`, but not beyond `now`. */
static uint64_t move_start_later(uint64_t at, uint64_t lost, uint64_t now)
{
	return hp3_max_u64(at, hp3_min_u64(at + lost, now));
}

bool hp3_reseq_stood(struct hp3_reseq *r, uint64_t lost, uint64_t now)
{
	r->gap_at = move_start_later(r->gap_at, lost, now);
	for (uint32_t i = 0; i < r->ages; i++)
		r->age[i].at = move_start_later(r->age[i].at, lost, now);
	r->read = now;
	if (r->held == 0 || r->anew == HP3_RESEQ_AGAIN)
		return false;
	r->anew++;
	r->gap_at = now;
	return true;
}
