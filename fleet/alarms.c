/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alarms in three levels, after Astral (ZTE Communications 31(2), 2025, 4.1). Marks are counted in
 * periods of 10 s. More than 500 marks in each of three periods in a row are an alarm of the middle
 * level. Five alarms within the gap between two steps of a training (10 to 30 s) are an alarm of
 * the high level. The paper does not define the lowest level (here: one such period), and which
 * alarms count for the high level. A single port has at most three periods in 30 s, so here the
 * alarms of all links of a switch count together.
 *
 * A host cannot see which link marked a packet, so marks count for the fuller of the flow's two
 * links.
 */
#include "base/minmax.h"
#include "base/names.h"
#include "fleet/state.h"

static uint32_t blamed_link(const struct hp3_fleet *f, const struct hp3_fleet_placed *at)
{
	uint64_t up = f->link[at->up].load_kbps, down = f->link[at->down].load_kbps;

	return down > up ? at->down : at->up;
}

static void count_marks(struct hp3_fleet *f)
{
	for (uint32_t i = 0; i < f->n_links; i++)
		f->link[i].period_marks = 0;
	for (uint32_t i = 0; i < f->n_placed; i++) {
		const struct hp3_fleet_placed *at = &f->placed[i];
		struct hp3_fleet_slot *s = &f->slot[at->slot];
		uint64_t marks = s->r.flow[at->flow].marks, *before = &s->marks_before[at->flow];

		if (at->up != HP3_FLEET_NONE)
			f->link[blamed_link(f, at)].period_marks +=
				hp3_min_u64(marks - *before, UINT32_MAX); /* sums do not wrap */
		*before = marks;
	}
}

static void judge_period(struct hp3_fleet *f)
{
	for (uint32_t i = 0; i < f->n_links; i++) {
		struct hp3_fleet_edge *l = &f->link[i];
		bool over = l->period_marks > f->p.alarm_marks;

		l->marks = l->period_marks;
		l->streak = over ? (uint8_t)(l->streak + (l->streak < UINT8_MAX)) : 0;
		l->alarms = l->alarms << 1 | over;
		l->level = !over                              ? HP3_FLEET_QUIET
			   : l->streak >= f->p.middle_periods ? HP3_FLEET_MIDDLE
							      : HP3_FLEET_LOW;
	}
}

static uint32_t end_of(const struct hp3_fleet_edge *l, bool hop)
{
	return hop ? l->hop : l->leaf;
}

static bool leaf_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct hp3_fleet *f = arg;

	return f->link[a].leaf < f->link[b].leaf;
}

static bool hop_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct hp3_fleet *f = arg;

	return f->link[a].hop < f->link[b].hop;
}

/* Sums the alarms of all links of a switch, for all leaves, or for all hops. */
static void judge_switches(struct hp3_fleet *f, bool hop)
{
	uint32_t periods = f->p.window_ms / f->p.period_ms, n = 0;
	uint32_t window = (uint32_t)((UINT64_C(1) << periods) - 1);

	for (uint32_t i = 0; i < f->n_links; i++)
		if ((f->link[i].alarms & window) != 0)
			f->scratch[n++] = i;
	hp3_fleet_sort(f->scratch, n, hop ? hop_before : leaf_before, f);
	for (uint32_t from = 0, to; from < n; from = to) {
		uint32_t node = end_of(&f->link[f->scratch[from]], hop), alarms = 0;

		for (to = from; to < n && end_of(&f->link[f->scratch[to]], hop) == node; to++)
			alarms += (uint32_t)__builtin_popcount(
				f->link[f->scratch[to]].alarms & window);
		for (uint32_t i = from; i < to && alarms >= f->p.high_alarms; i++) {
			struct hp3_fleet_edge *l = &f->link[f->scratch[i]];

			if (l->level != HP3_FLEET_QUIET)
				l->level = HP3_FLEET_HIGH;
		}
	}
}

void hp3_fleet_alarms(struct hp3_fleet *f, uint64_t now_ms)
{
	if (f->period_end_ms != 0 && now_ms < f->period_end_ms)
		return;
	if (f->period_end_ms != 0) {
		count_marks(f);
		judge_period(f);
		judge_switches(f, false);
		judge_switches(f, true);
	}
	f->period_end_ms = now_ms + f->p.period_ms;
}

const char *hp3_fleet_level_name(enum hp3_fleet_level l)
{
	static const char *const names[] = {"quiet", "low", "middle", "high"};

	_Static_assert(
		sizeof(names) / sizeof(names[0]) == HP3_FLEET_LEVELS, "a level without a name");
	return HP3_NAME(names, l);
}
