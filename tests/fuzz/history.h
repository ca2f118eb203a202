/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* For targets whose input is a sequence of events. Functions read it byte by byte; after its end
 * they return 0. */
#include <stdint.h>

static const uint8_t *in, *end;

static inline uint8_t u8(void)
{
	return in < end ? *in++ : 0;
}

static inline uint32_t u16(void)
{
	uint32_t hi = u8();

	return hi << 8 | u8();
}

static inline uint32_t u32(void)
{
	uint32_t hi = u16();

	return hi << 16 | u16();
}
