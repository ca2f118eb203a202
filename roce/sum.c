/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/sum.h"
#include "roce/wire.h"

static uint64_t add_words(uint64_t sum, const uint8_t *p, size_t n)
{
	for (; n > 1; p += 2, n -= 2)
		sum += hp3_be16(p);
	return n ? sum + ((uint64_t)*p << 8) : sum;
}

static uint16_t fold_sum(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint16_t hp3_sum(const void *bytes, size_t n)
{
	return fold_sum(add_words(0, bytes, n));
}

uint16_t hp3_sum_l4(const void *ip, bool ipv6, uint8_t protocol, const void *l4, uint32_t n)
{
	const uint8_t *addresses = (const uint8_t *)ip + (ipv6 ? 8 : 12);
	uint64_t sum = (uint64_t)protocol + (n & 0xffff) + (n >> 16);

	sum = add_words(sum, addresses, ipv6 ? 32 : 8);
	return fold_sum(add_words(sum, l4, n));
}
