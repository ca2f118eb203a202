/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/window.h"

#define TIME_BITS 24u
#define TIME_MASK ((1u << TIME_BITS) - 1)

/* Never 0: a place of 0 was never used. */
static uint64_t print_of_hash(uint64_t hash)
{
	return (hash >> TIME_BITS | 1) << TIME_BITS;
}

static bool is_live_place(const struct hp3_window *w, uint64_t place, uint64_t clock)
{
	uint32_t ahead = ((uint32_t)place - (uint32_t)clock + w->span) & TIME_MASK;

	return place != 0 && ahead <= 2 * w->span;
}

int64_t hp3_window_look(const struct hp3_window *w, uint64_t hash, uint64_t clock, bool known)
{
	uint32_t first = ((uint32_t)hash & (w->sets - 1)) * HP3_WINDOW_WAYS, free = 0;
	int64_t room = -ENOSPC;

	for (uint32_t i = first; i < first + HP3_WINDOW_WAYS; i++) {
		if (!is_live_place(w, w->place[i], clock)) {
			room = i;
			free++;
		} else if ((w->place[i] & ~(uint64_t)TIME_MASK) == print_of_hash(hash)) {
			return -EEXIST;
		}
	}
	return known || free > HP3_WINDOW_RESERVED ? room : -ENOSPC;
}

void hp3_window_keep(struct hp3_window *w, int64_t place, uint64_t hash, uint64_t time)
{
	w->place[place] = print_of_hash(hash) | (time & TIME_MASK);
}
