/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_PAIR_KEYS_H
#define HP3_PROBES_PAIR_KEYS_H
/*
 * The key of a sender and a receiver: derived from the secret of the fabric (tag.h), or looked up
 * in a table of such keys. A table without a pair has a key for it all the same, which nobody else
 * knows: what such hosts say to each other bears wrong tags.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_KEY_LEN 16u

/* Sender and receiver, as keys are derived from them. IPv4: the first four bytes of an address. */
struct hp3_pair_ends {
	uint8_t zero, ipv6, src[16], dst[16];
};

struct hp3_pair_key {
	struct hp3_pair_ends ends;
	uint8_t key[HP3_KEY_LEN];
};

/* Sorted by hp3_pair_ends_compare(), no ends twice. */
struct hp3_pair_keys {
	uint8_t nobody[HP3_KEY_LEN]; /* of pairs that are not in it: random */
	uint32_t n;
	struct hp3_pair_key pair[];
};

/* Addresses in network byte order, of 16 bytes or 4; *ends is zero before. */
void hp3_pair_ends_set(struct hp3_pair_ends *ends, bool ipv6, const void *src, const void *dst);

/* As memcmp(). */
int hp3_pair_ends_compare(const struct hp3_pair_ends *a, const struct hp3_pair_ends *b);

void hp3_pair_key_derive(uint8_t key[HP3_KEY_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends);

/* HP3_KEY_LEN bytes. */
const uint8_t *hp3_pair_keys_find(
	const struct hp3_pair_keys *keys, const struct hp3_pair_ends *ends);

#endif
