/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

/* Distance of two counts modulo 2^15. */
static int32_t count_distance(uint16_t a, uint16_t b)
{
	return (int16_t)((uint16_t)(a - b) << 1) >> 1;
}

void gen_order_note(struct gen_order *o, uint16_t mark, uint16_t sport)
{
	uint16_t count = mark & GEN_MARK_COUNT;
	bool before = o->any && count_distance(count, o->latest) < 0;

	if (mark & GEN_MARK_AGAIN) {
		o->late_duplicates += before && sport != o->sport;
		return;
	}
	if (before) {
		o->overtaken++;
		o->overtaken_across_ports += sport != o->sport;
		return;
	}
	o->any = true;
	o->latest = count;
	o->sport = sport;
}
