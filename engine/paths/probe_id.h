/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A probe id contains the slot of its round (search/answers.c). Searches have slots below
 * cfg.max_moves, which is at most HP3_COMPARE_SLOT. Slots from HP3_COMPARE_SLOT on belong to a
 * comparison: of ports for an operator (compare.h), or of EVs (spray/rounds.h). A bit of the nonce
 * distinguishes the two kinds of comparisons.
 */
#include <stdint.h>

#define HP3_PROBE_SLOT_SHIFT  3u /* bits below: number of the probe */
#define HP3_PROBE_NONCE_SHIFT 19u /* bits above: nonce */
#define HP3_COMPARE_SLOT      0xfffeu
#define HP3_COMPARE_NONCE     0x1000u /* set: comparison of EVs */

static inline uint32_t hp3_probe_slot(uint32_t id)
{
	return (id >> HP3_PROBE_SLOT_SHIFT) & UINT16_MAX;
}
