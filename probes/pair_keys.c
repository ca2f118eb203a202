/* SPDX-License-Identifier: BSD-3-Clause */
#include <sodium/crypto_shorthash.h>
#include <string.h>
#include "probes/pair_keys.h"

_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == HP3_KEY_LEN &&
		       crypto_shorthash_siphashx24_BYTES == HP3_KEY_LEN,
	"a key from a key");
_Static_assert(sizeof(struct hp3_pair_ends) == 34, "no padding: bytes are hashed and compared");

struct hp3_pair_ends hp3_pair_ends_of(bool ipv6, const void *src, const void *dst)
{
	struct hp3_pair_ends ends = {.ipv6 = ipv6};

	memcpy(ends.src, src, ipv6 ? 16 : 4);
	memcpy(ends.dst, dst, ipv6 ? 16 : 4);
	return ends;
}

struct hp3_pair_ends hp3_pair_ends_back(const struct hp3_pair_ends *ends)
{
	return hp3_pair_ends_of(ends->ipv6, ends->dst, ends->src);
}

int hp3_pair_ends_compare(const struct hp3_pair_ends *a, const struct hp3_pair_ends *b)
{
	return memcmp(a, b, sizeof(*a));
}

/*
 * The first byte is 0, which is no kind of tag. So the input of a derivation never equals the input
 * of a tag.
 */
void hp3_pair_key_derive(uint8_t key[HP3_KEY_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends)
{
	crypto_shorthash_siphashx24(key, (const uint8_t *)ends, sizeof(*ends), secret);
}

const uint8_t *hp3_pair_keys_find(
	const struct hp3_pair_keys *keys, const struct hp3_pair_ends *ends)
{
	uint32_t from = 0, to = keys->n;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		int order = hp3_pair_ends_compare(ends, &keys->pair[middle].ends);

		if (order == 0)
			return keys->pair[middle].key;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return keys->nobody;
}
