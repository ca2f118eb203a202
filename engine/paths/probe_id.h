/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PROBE_ID_H
#define HP3_ENGINE_PROBE_ID_H
/*
 * An id of a probe names the slot of its round (seek/answers.c). Slots of rounds are below
 * HP3_COMPARE_SLOT (cfg.max_moves): from there on it is of a comparison, of ports for an operator
 * (compare.h) or of lanes (spray/rounds.h), by a bit of the nonce.
 */
#include <stdint.h>

#define HP3_PROBE_SLOT_SHIFT  3u /* below: number of the probe */
#define HP3_PROBE_NONCE_SHIFT 19u /* above: random */
#define HP3_COMPARE_SLOT      0xfffeu
#define HP3_COMPARE_NONCE     0x1000u /* lanes */

static inline uint32_t hp3_probe_slot(uint32_t id)
{
	return (id >> HP3_PROBE_SLOT_SHIFT) & UINT16_MAX;
}

#endif
