/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/spread.h"
#include "base/minmax.h"

#define LEVELS  7u /* doublings */
#define UNUSUAL 4u /* times what is usual */
#define SILENT  16u /* packets by each other lane, and none by this one */
#define MOST_NS (1u << 20)

static uint64_t all_of(const struct hp3_spread_params *p)
{
	return p->lanes == HP3_LANES ? UINT64_MAX : (1ull << p->lanes) - 1;
}

/* The lanes whose rest is over. */
static void wake(struct hp3_spread *s, uint64_t now)
{
	s->next = UINT64_MAX;
	for (uint64_t left = s->resting; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (s->until[i] <= now)
			s->resting &= ~(1ull << i);
		else
			s->next = hp3_min_u64(s->next, s->until[i]);
	}
}

void hp3_spread_ask(struct hp3_spread *s, const struct hp3_spread_params *p)
{
	s->asked = all_of(p);
}

void hp3_spread_answered(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t lane, uint32_t rtt_ns)
{
	if (!(s->asked >> lane & 1))
		return;
	s->rtt[lane] = rtt_ns != 0 ? rtt_ns : 1;
	if (s->best == 0 || s->rtt[lane] < s->best)
		s->best = s->rtt[lane];
}

/* The first packet: who has answered soon enough? */
static void choose(struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t now)
{
	for (uint32_t i = 0; s->best != 0 && i < p->lanes; i++) {
		if (s->rtt[i] != 0 && (uint64_t)s->rtt[i] * 100 <= (uint64_t)s->best * p->alike)
			continue;
		s->resting |= 1ull << i;
		s->until[i] = s->next = now + p->rest_ns;
	}
	s->asked = 0;
}

static uint32_t below(uint32_t random, uint32_t n)
{
	return (uint32_t)((uint64_t)random * n >> 32);
}

uint32_t hp3_spread_lane(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint32_t random, uint64_t now)
{
	uint64_t may;

	if (s->asked != 0)
		choose(s, p, now);
	if (s->resting != 0 && s->next <= now)
		wake(s, now);
	if (s->resting == 0)
		return below(random, p->lanes);
	may = all_of(p) & ~s->resting;
	for (uint32_t n = below(random, (uint32_t)__builtin_popcountll(may)); n != 0; n--)
		may &= may - 1;
	return (uint32_t)__builtin_ctzll(may);
}

/* One lane at least stays. */
void hp3_spread_told(
	struct hp3_spread *s, const struct hp3_spread_params *p, uint64_t slow, uint64_t now)
{
	for (uint64_t left = slow & all_of(p) & ~s->resting; left != 0; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		uint64_t rest = p->rest_ns << s->level[i];

		if ((all_of(p) & ~s->resting) == 1ull << i)
			return;
		if (now - s->until[i] > 4 * rest)
			s->level[i] = 0; /* it was well for long */
		s->until[i] = now + (p->rest_ns << s->level[i]);
		s->level[i] += s->level[i] < LEVELS;
		s->next = s->resting == 0 ? s->until[i] : hp3_min_u64(s->next, s->until[i]);
		s->resting |= 1ull << i;
	}
}

void hp3_lateness_seen(struct hp3_lateness *l, uint32_t lane, uint64_t late_ns)
{
	uint32_t late = (uint32_t)hp3_min_u64(late_ns, MOST_NS);

	l->packets++;
	l->lane[lane].seen = l->packets;
	l->lane[lane].late += late - l->lane[lane].late / 8;
	l->usual += late - l->usual / 16;
}

static uint32_t bound_of(const struct hp3_lateness *l, const struct hp3_spread_params *p)
{
	return hp3_max_u32((uint32_t)p->late_ns, UNUSUAL * (l->usual / 16));
}

bool hp3_lateness_suspects(
	const struct hp3_lateness *l, const struct hp3_spread_params *p, uint32_t lane)
{
	return l->lane[lane].late / 8 > bound_of(l, p) || l->packets % HP3_LANES == 0;
}

uint64_t hp3_lateness_slow(struct hp3_lateness *l, const struct hp3_spread_params *p)
{
	uint64_t slow = 0;
	uint32_t bound = bound_of(l, p);

	for (uint32_t i = 0; i < p->lanes; i++) {
		if (l->lane[i].late / 8 <= bound &&
			l->packets - l->lane[i].seen <= SILENT * p->lanes)
			continue;
		slow |= 1ull << i;
		l->lane[i].late = 0;
		l->lane[i].seen = l->packets;
	}
	return slow;
}
