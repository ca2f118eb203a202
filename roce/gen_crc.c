/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs at build time, and prints the constant tables of crc.h. So the library needs no constructor
 * for them, and builds no table on first use.
 */
#include <stdint.h>
#include <stdio.h>
#include "crc_const.h"

/* The CRC register after one more zero bit: multiplication by x. */
static uint32_t times_x(uint32_t a)
{
	return a >> 1 ^ (a & 1 ? HP3_CRC_POLY : 0);
}

static uint32_t times_byte(uint32_t a)
{
	for (int i = 0; i < 8; i++)
		a = times_x(a);
	return a;
}

static void print_crc_table(const uint32_t *t, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("%s0x%08x,", i % 8 ? " " : "\n\t", (unsigned)t[i]);
	printf("\n");
}

int main(void)
{
	static uint32_t slice[8][256], low[HP3_CRC_POW_LOW], high[HP3_CRC_POW_HIGH];

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t a = i;
		for (int k = 0; k < 8; k++)
			slice[k][i] = a = times_byte(a);
	}
	uint32_t p = HP3_CRC_ONE;
	for (uint32_t n = 0; n < HP3_CRC_POW_STEP * HP3_CRC_POW_HIGH; n++) {
		if (n < HP3_CRC_POW_LOW)
			low[n] = p;
		if (n % HP3_CRC_POW_STEP == 0)
			high[n / HP3_CRC_POW_STEP] = p;
		p = times_byte(p);
	}

	printf("/* Written by gen_crc.c. */\n#include \"roce/crc.h\"\n\n");
	printf("const uint32_t hp3_crc_slice[8][256] = {\n");
	for (int k = 0; k < 8; k++) {
		printf("{");
		print_crc_table(slice[k], 256);
		printf("},\n");
	}
	printf("};\n\nconst uint32_t hp3_crc_pow_low[HP3_CRC_POW_LOW] = {");
	print_crc_table(low, HP3_CRC_POW_LOW);
	printf("};\n\nconst uint32_t hp3_crc_pow_high[HP3_CRC_POW_HIGH] = {");
	print_crc_table(high, HP3_CRC_POW_HIGH);
	printf("};\n");
	return 0;
}
