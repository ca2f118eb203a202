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

static uint32_t spine_path_by(const uint32_t *by_switch, uint32_t n, uint32_t sw)
{
	for (uint32_t i = 0; i < n; i++)
		if (by_switch[i] == sw)
			return i;
	return HP3_FLEET_NO_SPINE_PATH;
}

/* The number of rings whose spine path crosses the switch of spine path `i`. */
static uint32_t count_rings(
	const uint32_t *by_switch, const uint32_t *spine_path, uint32_t rings, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < rings; k++)
		n += spine_path[k] != HP3_FLEET_NO_SPINE_PATH &&
		     by_switch[spine_path[k]] == by_switch[i];
	return n;
}

void hp3_fleet_ring_spine_paths(const uint32_t *by_switch, uint32_t n, uint32_t switches,
	uint32_t rings, uint32_t *spine_path)
{
	for (uint32_t k = 0; k < rings; k++)
		spine_path[k] = switches == 0 ? HP3_FLEET_NO_SPINE_PATH
					      : spine_path_by(by_switch, n, k % switches);
	for (uint32_t k = 0; n > 0 && k < rings; k++) {
		uint32_t best = 0;

		if (spine_path[k] != HP3_FLEET_NO_SPINE_PATH)
			continue;
		for (uint32_t i = 1; i < n; i++)
			if (count_rings(by_switch, spine_path, rings, i) <
				count_rings(by_switch, spine_path, rings, best))
				best = i;
		spine_path[k] = best;
	}
}
