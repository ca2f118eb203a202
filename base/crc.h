/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reflected CRCs by small tables, four bits at a time. They are fast enough for the keys that
 * switches hash. Another file computes the ICRC of packets (roce/icrc.h).
 *
 * The functions take and return the bare CRC register: they set no initial value, and invert
 * nothing.
 */
#include <stddef.h>
#include <stdint.h>

/* CRC-32 of Ethernet, 0xEDB88320. */
static const uint32_t hp3_crc_table_32[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
	0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
	0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

/* CRC-16 of IBM, 0xA001 (0x8005 reflected). */
static const uint32_t hp3_crc_table_16[16] = {0x0000, 0xcc01, 0xd801, 0x1400, 0xf001, 0x3c00,
	0x2800, 0xe401, 0xa001, 0x6c00, 0x7800, 0xb401, 0x5000, 0x9c01, 0x8801, 0x4400};

/* The register after n bytes. */
static inline uint32_t hp3_crc_reflected(
	const uint32_t table[16], uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (; n > 0; n--, p++) {
		crc = crc >> 4 ^ table[(crc ^ *p) & 15];
		crc = crc >> 4 ^ table[(crc ^ *p >> 4) & 15];
	}
	return crc;
}
