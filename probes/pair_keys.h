/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The key of a sender and a receiver: derived from the secret of the fabric (tag.h), or found in a
 * table. For a pair that is not in the table, the result is a random key that no other host has. So
 * messages of such a pair have wrong tags.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_KEY_LEN 16u

/*
 * Sender and receiver. A key is derived from the bytes of this struct. An IPv4 address is in the
 * first four bytes of `src` or `dst`.
 */
struct hp3_pair_ends {
	uint8_t zero, ipv6, src[16], dst[16];
};

struct hp3_pair_key {
	struct hp3_pair_ends ends;
	uint8_t key[HP3_KEY_LEN];
};

/* Sorted by hp3_pair_ends_compare(), without duplicates. */
struct hp3_pair_keys {
	uint8_t nobody[HP3_KEY_LEN]; /* random: the key of pairs that are not in the table */
	uint32_t n;
	struct hp3_pair_key pair[];
};

/* The addresses are in network byte order, 16 bytes (IPv6) or 4 bytes (IPv4). */
struct hp3_pair_ends hp3_pair_ends_of(bool ipv6, const void *src, const void *dst);

/* The opposite direction. */
struct hp3_pair_ends hp3_pair_ends_back(const struct hp3_pair_ends *ends);

/* Returns as memcmp() does. */
int hp3_pair_ends_compare(const struct hp3_pair_ends *a, const struct hp3_pair_ends *b);

void hp3_pair_key_derive(uint8_t key[HP3_KEY_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends);

/* Returns the key of `ends`, HP3_KEY_LEN bytes; never NULL. */
const uint8_t *hp3_pair_keys_find(
	const struct hp3_pair_keys *keys, const struct hp3_pair_ends *ends);
