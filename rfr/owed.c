/* SPDX-License-Identifier: BSD-3-Clause */
#include "rfr/owed.h"
#include <string.h>

static uint32_t earlier_psn(uint32_t a, uint32_t b)
{
	return hp3_psn_diff(a, b) < 0 ? a : b;
}

/* Merges the new range with those that it touches. */
bool hp3_owed_add(struct hp3_owed *o, uint32_t psn, uint32_t span)
{
	struct hp3_owed_range all = {psn, hp3_psn_add(psn, span)};
	uint32_t i = 0, j;

	if (span > HP3_OWED_MOST)
		return false;
	while (i < o->n && hp3_psn_diff(o->range[i].end, psn) < 0)
		i++;
	for (j = i; j < o->n && hp3_psn_diff(o->range[j].first, all.end) <= 0; j++) {
		all.first = earlier_psn(all.first, o->range[j].first);
		all.end = hp3_psn_diff(o->range[j].end, all.end) > 0 ? o->range[j].end : all.end;
	}
	if (i == j && o->n == HP3_OWED)
		return false;
	memmove(&o->range[i + 1], &o->range[j], (o->n - j) * sizeof(o->range[0]));
	o->n = o->n + 1 - (j - i);
	o->range[i] = all;
	return true;
}

void hp3_owed_done(struct hp3_owed *o, uint32_t psn)
{
	uint32_t i = 0;

	while (i < o->n && hp3_psn_diff(o->range[i].end, psn) <= 0)
		i++;
	if (i != 0) {
		o->n -= i;
		memmove(&o->range[0], &o->range[i], o->n * sizeof(o->range[0]));
	}
	if (o->n != 0 && hp3_psn_diff(o->range[0].first, psn) < 0)
		o->range[0].first = psn;
}

uint32_t hp3_owed_from(const struct hp3_owed *o, uint32_t psn)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (hp3_psn_diff(o->range[i].end, psn) > 0)
			return hp3_psn_diff(o->range[i].first, psn) > 0 ? o->range[i].first : psn;
	return HP3_NO_PSN;
}
