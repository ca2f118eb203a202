/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "content.h"

/* Any two of them differ in about half of their bits: neighbours in place, number or length too. */
static uint64_t content_at(uint64_t key, uint64_t place)
{
	uint64_t x = key + place * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 31;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 29;
}

static void fill_content(uint8_t *to, uint64_t key, uint64_t place, uint32_t n)
{
	for (; n > 0; place++) {
		uint32_t part = n < GEN_WORD ? n : GEN_WORD;
		uint64_t w = content_at(key, place);

		memcpy(to, &w, part);
		to += part;
		n -= part;
	}
}

static bool is_same_content(const uint8_t *from, uint64_t key, uint64_t place, uint32_t n)
{
	uint64_t differ = 0, got;

	for (; n >= GEN_WORD; n -= GEN_WORD, from += GEN_WORD, place++) {
		memcpy(&got, from, sizeof(got));
		differ |= got ^ content_at(key, place);
	}
	got = content_at(key, place);
	return differ == 0 && memcmp(from, &got, n) == 0;
}

void gen_message_fill(void *to, uint64_t header, uint32_t offset, uint32_t n)
{
	fill_content(to, header, offset / GEN_WORD, n);
	if (offset == 0)
		memcpy(to, &header, n < sizeof(header) ? n : sizeof(header));
}

bool gen_message_ok(const void *from, uint64_t header, uint32_t offset, uint32_t n)
{
	const uint8_t *p = from;

	if (offset > 0)
		return is_same_content(p, header, offset / GEN_WORD, n);
	if (n < GEN_WORD)
		return memcmp(p, &header, n) == 0;
	return memcmp(p, &header, GEN_WORD) == 0 &&
	       is_same_content(p + GEN_WORD, header, 1, n - GEN_WORD);
}

void gen_memory_fill(void *to, uint32_t rkey, uint64_t va, uint32_t n)
{
	fill_content(to, rkey, va / GEN_WORD, n);
}

bool gen_memory_ok(const void *from, uint32_t rkey, uint64_t va, uint32_t n)
{
	return is_same_content(from, rkey, va / GEN_WORD, n);
}
