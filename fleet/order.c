/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/order.h"
#include <stdbool.h>
#include <stddef.h>

static bool came_before(const uint32_t *leaf, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (leaf[k] == leaf[i])
			return true;
	return false;
}

void hp3_fleet_order(const uint32_t *leaf, uint32_t n, uint32_t *order)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (came_before(leaf, i))
			continue;
		for (uint32_t k = i; k < n; k++)
			if (leaf[k] == leaf[i])
				order[at++] = k;
	}
}

uint32_t hp3_fleet_crossings(const uint32_t *leaf, uint32_t n, const uint32_t *order)
{
	uint32_t crossings = 0;

	for (uint32_t i = 0; n > 1 && i < n; i++) {
		uint32_t next = (i + 1) % n;

		crossings += leaf[order != NULL ? order[i] : i] !=
			     leaf[order != NULL ? order[next] : next];
	}
	return crossings;
}
