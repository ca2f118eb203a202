/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages between two cores: a byte with the kind, then fields, little-endian, without gaps.
 *
 *     OFFER, ANSWER           path 8, opening 32, endpoint (1 to HP3X_ENDPOINT bytes)
 *     READY, DOWN             path 8, opening 32
 *     FENCED                  path 8, opening 32, immediates 32
 *     BEGIN                   slot and generation 16, counter 16, slices 16, add 32
 *     COUNTED                 entries of 16: slot and generation, HP3XC_COUNTED, HP3XC_FORGOTTEN
 *     FORGET                  entries of 16: slot and generation
 *     FLUSH                   entries: path 8, opening 32, immediates 32
 *     ADD                     counter 16, add 32
 *     USER                    the data
 *     ACKNOWLEDGE             number of the last ADD or USER 32
 *     FLUSHED, KEEPALIVE      nothing
 */
#include <stdint.h>

enum hp3xc_message {
	HP3XC_OFFER = 1,
	HP3XC_ANSWER,
	HP3XC_READY,
	HP3XC_PATH_DOWN,
	HP3XC_FENCED,
	HP3XC_BEGIN,
	HP3XC_COUNTED_MESSAGE,
	HP3XC_FORGET,
	HP3XC_FLUSH,
	HP3XC_FLUSHED,
	HP3XC_ADD,
	HP3XC_USER,
	HP3XC_ACKNOWLEDGE,
	HP3XC_KEEPALIVE,
};

#define HP3XC_NAMED        0x7ffu /* slot and generation */
#define HP3XC_COUNTED      0x4000u
#define HP3XC_FORGOTTEN    0x8000u
#define HP3XC_FLUSH_ENTRY  9u
#define HP3XC_MOST_ENTRIES 64u

/* Writes `bytes` bytes of a number. Returns the place behind it. */
static inline uint8_t *hp3xc_wire_put(uint8_t *at, uint32_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(number >> 8 * i);
	return at + bytes;
}

static inline uint32_t hp3xc_wire_get(const uint8_t *at, unsigned bytes)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < bytes; i++)
		number |= (uint32_t)at[i] << 8 * i;
	return number;
}
