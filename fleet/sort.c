/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting without further memory (heap sort). */
#include "fleet/state.h"

static void swap_items(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

static void sink_item(
	uint32_t *v, uint32_t at, uint32_t n, hp3_fleet_before *before, const void *arg)
{
	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && before(arg, v[child], v[child + 1]))
			child++;
		if (!before(arg, v[at], v[child]))
			return;
		swap_items(&v[at], &v[child]);
	}
}

void hp3_fleet_heap(uint32_t *v, uint32_t n, hp3_fleet_before *before, const void *arg)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sink_item(v, i, n, before, arg);
}

void hp3_fleet_heap_drop(uint32_t *v, uint32_t *n, hp3_fleet_before *before, const void *arg)
{
	swap_items(&v[0], &v[--*n]);
	sink_item(v, 0, *n, before, arg);
}

void hp3_fleet_sort(uint32_t *v, uint32_t n, hp3_fleet_before *before, const void *arg)
{
	hp3_fleet_heap(v, n, before, arg);
	while (n > 1)
		hp3_fleet_heap_drop(v, &n, before, arg);
}
