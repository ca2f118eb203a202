/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PROBE_ID_H
#define HP3_ENGINE_PROBE_ID_H
/* An id of a probe names the slot of its round (seek/answers.c), or a comparison (compare.h). */
#include <stdint.h>

#define HP3_PROBE_SLOT_SHIFT  3u /* below: number of the probe */
#define HP3_PROBE_NONCE_SHIFT 19u /* above: random */

static inline uint32_t hp3_probe_slot(uint32_t id)
{
	return (id >> HP3_PROBE_SLOT_SHIFT) & UINT16_MAX;
}

#endif
