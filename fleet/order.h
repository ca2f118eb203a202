/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_ORDER_H
#define HP3_FLEET_ORDER_H
/*
 * An order of hosts for rings whose neighbours are under one leaf where that can be (Astral's TCCL,
 * ZTE Communications 31(2), 2025, 3.2): hosts of a leaf follow one another, leaves in the order in
 * which they come first, hosts of a leaf in theirs. No order crosses leaves less often: a ring over
 * n > 1 leaves has to leave each of them once.
 */
#include <stdint.h>

/* leaf[i]: that of host i, any numbers. order: room for n. */
void hp3_fleet_order(const uint32_t *leaf, uint32_t n, uint32_t *order);
/* Of the n steps of the ring from host to host, the last one back to the first: how many cross
 * leaves. `order` NULL: as they come. */
uint32_t hp3_fleet_crossings(const uint32_t *leaf, uint32_t n, const uint32_t *order);

#define HP3_FLEET_NO_SPINE_PATH UINT32_MAX

/*
 * Spine paths of `rings` rings at one step from host to host, of n that are known: by_switch[i] is
 * the switch by which spine path i leads, one of `switches` (numbers from 0). way[k]: that of ring
 * k, or HP3_FLEET_NO_SPINE_PATH where none is known. Ring k keeps to switch k (modulo `switches`)
 * at every step that knows a spine path by it; at others it takes a switch that the fewest rings of
 * this step have.
 */
void hp3_fleet_ring_spine_paths(const uint32_t *by_switch, uint32_t n, uint32_t switches,
	uint32_t rings, uint32_t *spine_path);

#endif
