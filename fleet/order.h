/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Orders hosts for rings so that, where possible, neighbours in the ring are below one leaf
 * (Astral's TCCL, ZTE Communications 31(2), 2025, 3.2). Hosts of a leaf are consecutive, in their
 * given order. Leaves are in the order of their first hosts. This order has the fewest crossings
 * between leaves, because a ring over n > 1 leaves has to leave each leaf at least once.
 */
#include <stdint.h>

/* leaf[i]: a number that identifies the leaf of host i. `order` has room for n numbers. */
void hp3_fleet_order(const uint32_t *leaf, uint32_t n, uint32_t *order);
/*
 * Counts the steps of the ring that cross from one leaf to another, including the step from the
 * last host to the first. `order` NULL: the hosts are in their given order.
 */
uint32_t hp3_fleet_crossings(const uint32_t *leaf, uint32_t n, const uint32_t *order);

#define HP3_FLEET_NO_SPINE_PATH UINT32_MAX

/*
 * Chooses a spine path for each of `rings` rings, for one step from host to host. There are n known
 * spine paths. by_switch[i]: the number, less than `switches`, of the switch that spine path i
 * crosses. spine_path[k]: the result for ring k; HP3_FLEET_NO_SPINE_PATH if n is 0. If a known
 * spine path crosses switch k (modulo `switches`), ring k uses this spine path. Otherwise, ring k
 * uses the switch that the fewest rings of this step use.
 */
void hp3_fleet_ring_spine_paths(const uint32_t *by_switch, uint32_t n, uint32_t switches,
	uint32_t rings, uint32_t *spine_path);
