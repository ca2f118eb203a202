/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Constants shared by crc.h and the program that generates its tables. */

#define HP3_CRC_POLY 0xedb88320u /* Ethernet CRC-32, reflected, without x^32 */
#define HP3_CRC_ONE  0x80000000u /* the polynomial 1 in reflected order */

/*
 * Sizes of the tables of x^(8n). If a frame is at most as long as the largest RoCE MTU (4,096
 * bytes, and headers), one table has x^(8n). For longer frames, x^(8n) is the product of a factor
 * from each table.
 */
#define HP3_CRC_POW_LOW  4201u
#define HP3_CRC_POW_STEP 4096u
#define HP3_CRC_POW_HIGH 17u /* frames have at most 64 KiB */
