/* SPDX-License-Identifier: BSD-3-Clause */
/* crypto_shorthash() needs no sodium_init(): it keeps no state and picks no implementation. */
#include <errno.h>
#include <sodium/crypto_shorthash.h>
#include "probes/tag.h"

#define HEAD_LEN 38u /* kind, family, two addresses, two ports */

_Static_assert(crypto_shorthash_KEYBYTES == HP3_KEY_LEN, "128-bit key");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "64-bit hash");

bool hp3_probe_keyed(const struct hp3_probe_key *key)
{
	static const uint8_t none[HP3_KEY_LEN];

	return memcmp(key->bytes, none, sizeof(none)) != 0;
}

static struct hp3_pair_ends ends_of(const struct hp3_addressing *a)
{
	return hp3_pair_ends_of(a->ipv6, a->src_ip, a->dst_ip);
}

bool hp3_pair_keyed(const struct hp3_probe_key *key, const struct hp3_addressing *a)
{
	struct hp3_pair_ends ends;

	if (key->agreed == NULL)
		return hp3_probe_keyed(key);
	ends = ends_of(a);
	return key->agreed(key->table, &ends) != NULL;
}

uint32_t hp3_probe_keys(const struct hp3_probe_keys *keys, const struct hp3_addressing *a)
{
	return hp3_pair_keyed(&keys->key[0], a) && hp3_pair_keyed(&keys->key[1], a) ? 2 : 1;
}

/* True for messages between hosts. For the other kinds, the key is a secret of this host. */
static bool is_between_hosts(enum hp3_tag_kind kind)
{
	return kind != HP3_TAG_SOURCE && kind != HP3_TAG_RANDOM && kind != HP3_TAG_COOKIE;
}

/* The key of the sender and the receiver of *a; zero if they have none. */
static void key_between(
	uint8_t use[HP3_KEY_LEN], const struct hp3_probe_key *key, const struct hp3_addressing *a)
{
	const struct hp3_pair_ends ends = ends_of(a);
	const uint8_t *agreed = NULL;

	if (key->agreed != NULL)
		agreed = key->agreed(key->table, &ends);
	if (agreed != NULL)
		memcpy(use, agreed, HP3_KEY_LEN);
	else if (key->pairs != NULL)
		memcpy(use, hp3_pair_keys_find(key->pairs, &ends), HP3_KEY_LEN);
	else if (hp3_probe_keyed(key))
		hp3_pair_key_derive(use, key->bytes, &ends);
	else
		memset(use, 0, HP3_KEY_LEN);
}

uint64_t hp3_tag(const struct hp3_probe_key *key, const struct hp3_tag_input *in)
{
	const struct hp3_addressing *a = in->a;
	uint8_t b[HEAD_LEN + HP3_TAG_MAX] = {(uint8_t)in->kind, a->ipv6}, out[sizeof(uint64_t)];
	size_t address = a->ipv6 ? 16 : 4;
	uint8_t use[HP3_KEY_LEN];

	memcpy(b + 2, a->src_ip, address);
	memcpy(b + 18, a->dst_ip, address);
	if (is_between_hosts(in->kind))
		key_between(use, key, a);
	else
		memcpy(use, key->bytes, sizeof(use));
	hp3_put_be16(b + 34, a->sport);
	hp3_put_be16(b + 36, in->dport);
	memcpy(b + HEAD_LEN, in->bytes, in->n);
	crypto_shorthash(out, b, HEAD_LEN + in->n, use);
	return hp3_be64(out);
}

int hp3_tag_key(const struct hp3_probe_keys *keys, const struct hp3_tag_input *in, uint64_t tag)
{
	for (uint32_t i = 0; i < hp3_probe_keys(keys, in->a); i++)
		if (hp3_tag(&keys->key[i], in) == tag)
			return (int)i;
	return -EACCES;
}

uint32_t hp3_probe_cookie(
	const struct hp3_probe_key *secret, const struct hp3_addressing *a, uint32_t id)
{
	const struct hp3_tag_input in = {HP3_TAG_COOKIE, a, HP3_ROCE_UDP_PORT, &id, sizeof(id)};

	return (uint32_t)hp3_tag(secret, &in);
}
