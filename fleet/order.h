/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Orders hosts for rings, so that neighbours are below one leaf where possible (Astral's TCCL, ZTE
 * Communications 31(2), 2025, 3.2). Hosts of a leaf are consecutive, in their given order; leaves
 * are in the order of their first hosts. No other order crosses leaves less often, because a ring
 * over n > 1 leaves has to leave each of them at least once.
 */
#include <stdint.h>

/* leaf[i]: any number for the leaf of host i. order: room for n. */
void hp3_fleet_order(const uint32_t *leaf, uint32_t n, uint32_t *order);
/* The number of the ring's n steps that cross leaves, including the step from the last host to the
 * first. `order` NULL: the given order. */
uint32_t hp3_fleet_crossings(const uint32_t *leaf, uint32_t n, const uint32_t *order);

#define HP3_FLEET_NO_SPINE_PATH UINT32_MAX

/*
 * Chooses the spine paths of `rings` rings for one step from host to host, among n known ones.
 * by_switch[i]: the number of the switch that spine path i crosses, less than `switches`.
 * spine_path[k]: the result for ring k; HP3_FLEET_NO_SPINE_PATH if n is 0. Ring k uses switch k
 * (modulo `switches`) if a known spine path crosses it; otherwise, ring k uses the switch that the
 * fewest rings of this step use.
 */
void hp3_fleet_ring_spine_paths(const uint32_t *by_switch, uint32_t n, uint32_t switches,
	uint32_t rings, uint32_t *spine_path);
