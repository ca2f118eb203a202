/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/spread.h"
#include <string.h>

#define REST_LEVELS 7u /* doublings */
#define SILENT      16u /* packets with each other EV, without a packet with this EV */
#define FAR         3u /* times `alike` */
#define LOST        2u /* fewer probes without an answer may just be lost packets */
#define AGAIN       2u /* reports about an EV */
#define GUARD       2u /* part of rest_ns: reports so soon after a rest are about earlier packets */

static uint64_t usable_evs(const struct hp3_spread *s, const struct hp3_spread_params *p)
{
	return hp3_spread_usable(s, p, false);
}

uint32_t hp3_spread_used(const struct hp3_spread *s, const struct hp3_spread_params *p)
{
	return (uint32_t)__builtin_popcountll(usable_evs(s, p) & ~s->resting);
}

/* Ends the rests that are over. */
static void end_due_rests(struct hp3_spread *s, uint64_t now)
{
	if (s->resting == 0 || s->next > now)
		return;
	s->next = UINT64_MAX;
	for (uint64_t left = s->resting; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (s->until[i] <= now)
			s->resting &= ~(1ull << i);
		else
			s->next = hp3_min_u64(s->next, s->until[i]);
	}
	s->slow &= s->resting;
}

static void end_rests(struct hp3_spread *s, uint64_t evs, uint64_t now)
{
	for (uint64_t left = evs & s->resting; left != 0; left &= left - 1)
		s->until[__builtin_ctzll(left)] = now;
	s->resting &= ~evs;
	s->slow &= ~evs;
}

static void forget_probes(struct hp3_spread *s)
{
	memset(s->rtt, 0, sizeof(s->rtt));
	s->best = UINT32_MAX;
	s->asked = s->since = 0;
}

/* Are the probes too old to count? */
static bool has_old_probes(
	const struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t now)
{
	return s->since == 0 || now - hp3_min_u64(s->since, now) > p->rest_ns;
}

void hp3_spread_probed(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t ev, uint64_t now)
{
	if (has_old_probes(s, p, now)) {
		forget_probes(s);
		s->since = now != 0 ? now : 1;
	}
	s->asked |= 1ull << ev;
	s->at[ev] = (uint32_t)(now - hp3_min_u64(s->since, now));
}

void hp3_spread_answered(struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t ev,
	uint32_t rtt_ns, uint64_t now)
{
	if (has_old_probes(s, p, now) || !(s->asked >> ev & 1))
		return;
	s->rtt[ev] = rtt_ns != 0 ? rtt_ns : 1;
	s->best = hp3_min_u32(s->best, s->rtt[ev]);
}

/* Percent of the best RTT so far; a bad answer counts as slowest. */
static uint64_t percent_of_best(const struct hp3_spread *s, uint32_t ev, uint64_t now)
{
	uint64_t ns = s->rtt[ev] != 0 ? s->rtt[ev] : now - hp3_min_u64(s->since + s->at[ev], now);

	return s->rtt[ev] == UINT32_MAX ? UINT32_MAX : ns * 100 / hp3_max_u32(s->best, 1);
}

static void rest_ev(struct hp3_spread *s, uint32_t ev, uint64_t until)
{
	s->until[ev] = until;
	s->next = s->resting == 0 ? until : hp3_min_u64(s->next, until);
	s->resting |= 1ull << ev;
}

/* May paths be alike although so many of n probes were slow, or were not answered? */
static bool are_few(const struct hp3_spread_params *p, uint32_t slow, uint32_t silent, uint32_t n)
{
	return (slow + (silent >= LOST ? silent : 0)) * 100 < n * p->differ;
}

bool hp3_spread_choose(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t now)
{
	uint32_t n = 0, slow = 0, far = 0, silent_slow = 0, silent_far = 0;
	uint64_t good = 0, bad = 0, out, silent = 0;

	if (has_old_probes(s, p, now) || s->best == UINT32_MAX)
		return false;
	for (uint64_t left = s->asked; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		uint64_t percent = percent_of_best(s, i, now);
		bool answered = s->rtt[i] != 0;

		if (percent <= p->alike && !answered)
			continue; /* too early to decide */
		n++;
		*(answered ? &slow : &silent_slow) += percent > p->alike;
		/* a mark shows a queue, not a long path */
		*(answered ? &far : &silent_far) +=
			percent > FAR * p->alike && s->rtt[i] != UINT32_MAX;
		*(percent > p->alike ? &bad : &good) |= 1ull << i;
		silent |= (uint64_t)!answered << i;
	}
	out = are_few(p, slow, silent_slow, n) ? bad : hp3_spread_all(p) & ~good;
	forget_probes(s);
	if ((good & ~s->resting) == 0) /* at least one EV stays in use */
		end_rests(s, good, now);
	for (uint64_t left = out & ~s->resting; left != 0; left &= left - 1)
		rest_ev(s, (uint32_t)__builtin_ctzll(left), now + p->rest_ns);
	s->next = 0;
	if (!are_few(p, far, silent_far, n))
		return true;
	if (s->known == 0 && n > 1)
		s->known = hp3_spread_all(p);
	s->known &= ~silent;
	return false;
}

bool hp3_spread_compared(struct hp3_spread *s, const struct hp3_spread_params *p, const uint8_t *ev,
	const uint32_t *rtt, uint32_t n)
{
	uint32_t best = UINT32_MAX, far = 0;

	for (uint32_t i = 0; i < n; i++)
		if (rtt[i] != 0)
			best = hp3_min_u32(best, rtt[i]);
	for (uint32_t i = 0; i < n; i++) {
		if (rtt[i] == 0 || rtt[i] - best > p->reach_ns) {
			s->known &= ~(1ull << ev[i]);
			s->far |= 1ull << ev[i];
			far++;
			continue;
		}
		s->known |= 1ull << ev[i];
		s->far &= ~(1ull << ev[i]);
	}
	return far * 100 >= n * p->differ;
}

bool hp3_spread_differs(const struct hp3_spread *s, const struct hp3_spread_params *p)
{
	uint32_t again = 0;

	for (uint64_t left = s->resting & s->slow & usable_evs(s, p); left != 0; left &= left - 1)
		again += s->level[__builtin_ctzll(left)] >= AGAIN;
	return 2 * again > (uint32_t)__builtin_popcountll(usable_evs(s, p));
}

static uint32_t random_below(uint32_t random, uint32_t n)
{
	return (uint32_t)((uint64_t)random * n >> 32);
}

uint32_t hp3_spread_usable_ev(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t use,
	uint32_t random, uint64_t now)
{
	uint64_t may;

	if (use == 0) /* no EV is in use */
		use = hp3_spread_all(p);
	end_due_rests(s, now);
	may = use & ~s->resting;
	if (may == 0) /* the answers of all EVs were bad, some after a good answer */
		may = use;
	if (may == hp3_spread_all(p))
		return random_below(random, p->evs);
	for (uint32_t n = random_below(random, (uint32_t)__builtin_popcountll(may)); n != 0; n--)
		may &= may - 1;
	return (uint32_t)__builtin_ctzll(may);
}

/* At least one EV stays in use. */
void hp3_spread_rest(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow, uint64_t now)
{
	end_due_rests(s, now);
	for (uint64_t left = slow & usable_evs(s, p) & ~s->resting; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		uint64_t once = p->rest_ns << s->level[i];

		if ((usable_evs(s, p) & ~s->resting) == 1ull << i)
			return;
		if (now > s->slow_until[i] + 4 * once)
			s->level[i] = 0; /* it was not slow for long */
		s->slow_until[i] = now + (p->rest_ns << s->level[i]);
		rest_ev(s, i, s->slow_until[i]);
		s->slow |= 1ull << i;
		s->level[i] += s->level[i] < REST_LEVELS;
	}
}

void hp3_spread_slow(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow,
	uint64_t tried, uint64_t now)
{
	slow &= tried & hp3_spread_all(p);
	for (uint64_t left = slow; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (s->until[i] != 0 && now < s->until[i] + p->rest_ns / GUARD)
			slow &= ~(1ull << i);
	}
	hp3_spread_rest(s, p, slow, now);
}

void hp3_spread_marked(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t marked, uint64_t now)
{
	uint64_t use = usable_evs(s, p);

	end_due_rests(s, now);
	for (uint64_t left = marked & use & ~s->resting; left != 0; left &= left - 1) {
		if (2 * ((uint32_t)__builtin_popcountll(s->resting & use) + 1) >
			(uint32_t)__builtin_popcountll(use))
			return;
		rest_ev(s, (uint32_t)__builtin_ctzll(left), now + p->rest_ns);
	}
}

uint64_t hp3_lateness_slow(struct hp3_lateness *l, const struct hp3_spread_params *p)
{
	uint64_t slow = 0;
	uint32_t bound = hp3_lateness_bound(l, p);

	for (uint32_t i = 0; i < p->evs; i++) {
		if (l->ev[i].late / 8 <= bound && l->packets - l->ev[i].seen <= SILENT * p->evs)
			continue;
		slow |= 1ull << i;
		l->ev[i].late = 0;
		l->ev[i].seen = l->packets;
	}
	return slow;
}

uint64_t hp3_lateness_marked(struct hp3_lateness *l, const struct hp3_spread_params *p)
{
	uint64_t marked = 0;

	for (uint32_t i = 0; i < p->evs; i++) {
		if (!hp3_ev_is_marked(l, i))
			continue;
		marked |= 1ull << i;
		l->ev[i].marked = 0;
	}
	return marked;
}
